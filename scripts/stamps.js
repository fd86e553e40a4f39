// Long checks that depend on few files: once all of one has passed, it is left out until one of its files, or a tool,
// differs (`--unless-passed`, as in CI). What passed is in .ci/stamps/, one file for each check, architecture and version
// of the tools, with a hash of each kind of file; it is committed with what was checked.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const recorded = z.object({ tools: z.string(), hashes: z.record(z.string(), z.string()) });

/** @param {readonly string[]} texts */
const hashOf = (texts) => createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);

/**
 * The names and texts of the files that a kind of source consists of.
 * @param {readonly string[]} folders
 * @param {(path: string, text: () => string) => boolean} isOne
 */
function textsOf(folders, isOne) {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(?:ts|js|cpp|h)$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
    )
    .sort()
    .filter((path) => isOne(path, () => readFileSync(join(root, path), 'utf8')))
    .flatMap((path) => [path, readFileSync(join(root, path), 'utf8')]);
}

/** What the native library, its bindings and their tests are made of. */
export const nativeSources = () => ({
  'C++': textsOf(['src', 'scripts'], (path) => /\.(?:cpp|h)$/.test(path)),
  prototypes: textsOf(
    ['src'],
    (path, text) =>
      /(?<!\.test)\.ts$/.test(path) && (path.includes('/cpu/') || /\bcorella_\w+\(/.test(text())),
  ),
  tests: textsOf(['src'], (path) =>
    /(?:^|[-/])cpu(?:[^/]*|\/.+)\.test\.ts$|cases\.ts$|[.-]testing\.ts$/.test(path),
  ),
  scripts: textsOf(['scripts'], (path) =>
    /\/(?:build-native|targets|prototypes|test-sanitize|test-machines)\.js$|\/replay\//.test(path),
  ),
});

/** What binds CUDA's driver and compiler, and checks that; the kernels themselves are known to check-cuda.js alone. */
export const cudaBindings = () => ({
  bindings: textsOf(['src/backend/cuda'], (path) =>
    /\/(?:device|driver|nvrtc|prototypes|structs)\.ts$/.test(path),
  ),
  scripts: textsOf(['scripts'], (path) => /\/(?:check-cuda|cuda-\w+|nvcc)\.js$/.test(path)),
});

/** The first line of `TOOL --version`, or of those lines the one with its version. @param {string} tool */
export function versionOf(tool) {
  const lines = spawnSync(tool, ['--version'], { encoding: 'utf8' }).stdout.trim().split('\n');
  return lines.find((line) => /\d+\.\d+/.test(line)) ?? lines[0];
}

/**
 * @param {string} check
 * @param {readonly string[]} tools their versions
 * @param {Readonly<Record<string, readonly string[]>>} sources texts by kind
 */
export function stampOf(check, tools, sources) {
  const versions = tools.map((tool) => /\d+(?:\.\d+)+/.exec(tool)?.[0] ?? tool);
  const path = join(root, '.ci', 'stamps', `${[check, process.arch, ...versions].join('-')}.json`);
  const hashes = Object.fromEntries(Object.entries(sources).map(([kind, texts]) => [kind, hashOf(texts)]));
  return {
    /** Whether the same has passed; prints why the check runs, or does not. */
    hasPassed: () => {
      /** @type {z.infer<typeof recorded> | undefined} */
      let before;
      try {
        before = recorded.parse(JSON.parse(readFileSync(path, 'utf8')));
      } catch {
        console.log(`${check}: no pass with ${tools.join(', ')} is recorded`);
        return false;
      }
      const differ = Object.keys(hashes).filter((kind) => hashes[kind] !== before.hashes[kind]);
      if (before.tools !== tools.join(', ')) differ.push('tools');
      console.log(
        differ.length > 0
          ? `${check}: what passed before differs in ${differ.join(', ')}`
          : `${check}: passed with these ${Object.keys(hashes).join(', ')}, and is left out`,
      );
      return differ.length === 0;
    },
    /** Records that all of the check has passed. */
    write: () => {
      mkdirSync(join(root, '.ci', 'stamps'), { recursive: true });
      writeFileSync(path, `${JSON.stringify({ tools: tools.join(', '), hashes }, null, 2)}\n`);
    },
  };
}
