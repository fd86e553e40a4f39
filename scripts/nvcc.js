// Location of CUDA's compiler and its headers.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function findNvcc() {
  const places = [process.env.CUDA_HOME, process.env.CUDA_PATH, '/usr/local/cuda'];
  const found = places
    .flatMap((place) => (place ? [join(place, 'bin', 'nvcc')] : []))
    .find((path) => existsSync(path));
  if (found) return found;
  try {
    return execFileSync('sh', ['-c', 'command -v nvcc'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

export const nvcc = findNvcc();

/** Header folders: the toolkit's, and those of the run-time compiler's Python package beside it. */
export function headerFolders() {
  const real =
    nvcc === undefined ? [] : [execFileSync('readlink', ['-f', nvcc], { encoding: 'utf8' }).trim()];
  const user = (process.env.CORELLA_CUDA_PATH ?? '').split(':').filter(Boolean);
  return [
    ...real.map((path) => join(dirname(dirname(path)), 'include')),
    '/usr/local/cuda/include',
    ...user.map((folder) => join(folder, 'include')),
  ];
}

/**
 * @param {readonly string[]} words
 * @returns {Promise<{ failed: boolean, output: string }>}
 */
export function compile(words) {
  return new Promise((resolve) => {
    execFile(nvcc ?? 'nvcc', words, { maxBuffer: 1e8 }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: `${stdout}${stderr}`.trim() });
    });
  });
}
