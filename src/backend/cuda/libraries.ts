/** Where NVIDIA's libraries usually are, and opening the first that loads. */
import koffi, { type LibraryHandle } from 'koffi';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { refuse } from '../../core/errors.js';

interface LibraryPlaces {
  /** For reports: "NVIDIA's driver". */
  readonly title: string;
  readonly names: readonly string[];
  /** Tried after CORELLA_CUDA_PATH and the system's own search. */
  readonly folders: readonly string[];
  readonly fix: string;
}

/** Folders named by the user, and where toolkits keep libraries below them. */
export function userFolders(environment: NodeJS.ProcessEnv = process.env): string[] {
  const given = (environment.CORELLA_CUDA_PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return given.flatMap((folder) => [folder, join(folder, 'lib64'), join(folder, 'lib')]);
}

export const driverPlaces = (): LibraryPlaces => ({
  title: "NVIDIA's driver",
  names: ['libcuda.so.1', 'libcuda.so'],
  folders: [
    '/usr/lib/x86_64-linux-gnu',
    '/usr/lib/aarch64-linux-gnu',
    '/usr/lib64',
    '/usr/local/nvidia/lib64',
    '/usr/lib/wsl/lib',
  ],
  fix: 'install it, or choose another backend: cpu or reference',
});

export const compilerPlaces = (environment: NodeJS.ProcessEnv = process.env): LibraryPlaces => ({
  title: "CUDA's run-time compiler",
  names: ['libnvrtc.so.13', 'libnvrtc.so.12', 'libnvrtc.so'],
  folders: [...toolkitFolders(), ...wheelFolders(environment)],
  fix: 'install it (pip install nvidia-cuda-nvrtc, or the CUDA toolkit), or name its folder in CORELLA_CUDA_PATH',
});

function toolkitFolders(): string[] {
  const toolkits = entries('/usr/local').filter((name) => /^cuda(-[\d.]+)?$/.test(name));
  return toolkits
    .sort()
    .flatMap((name) =>
      ['lib64', 'targets/x86_64-linux/lib', 'targets/sbsa-linux/lib'].map((lib) =>
        join('/usr/local', name, lib),
      ),
    );
}

/** Python wheels carry the same libraries: beside whichever Pythons are on the PATH. */
function wheelFolders(environment: NodeJS.ProcessEnv): string[] {
  const programs = (environment.PATH ?? '').split(delimiter).filter((folder) => folder.endsWith('bin'));
  const roots = new Set([
    environment.VIRTUAL_ENV,
    environment.CONDA_PREFIX,
    ...programs.map((folder) => dirname(folder)),
  ]);
  const found: string[] = [];
  for (const root of roots) {
    if (root === undefined || root === '') continue;
    for (const python of entries(join(root, 'lib')).filter((name) => name.startsWith('python3'))) {
      for (const packages of ['site-packages', 'dist-packages']) {
        const nvidia = join(root, 'lib', python, packages, 'nvidia');
        found.push(...['cu13', 'cuda_nvrtc'].map((wheel) => join(nvidia, wheel, 'lib')));
      }
    }
  }
  return found;
}

const entries = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

export function openLibrary(places: LibraryPlaces): { library: LibraryHandle; path: string } {
  const inFolders = (folders: readonly string[]): string[] =>
    folders
      .flatMap((folder) => places.names.map((name) => join(folder, name)))
      .filter((path) => existsSync(path));
  for (const path of [...inFolders(userFolders()), ...places.names, ...inFolders(places.folders)]) {
    try {
      return { library: koffi.load(path), path };
    } catch {
      continue; // missing, or for another machine: try the next place
    }
  }
  refuse('cuda', `${places.title} (${places.names[0]}) was not found`, places.fix);
}

/**
 * Loads the companion of a library found by its full path. The compiler opens its own by file name, which the system
 * finds only if it is loaded already or in its search path; a Python wheel's folder is not.
 */
export function loadBeside(path: string, prefix: string): void {
  if (!isAbsolute(path)) return;
  for (const name of entries(dirname(path)).filter((one) => one.startsWith(prefix)))
    koffi.load(join(dirname(path), name));
}
