// Builds everything into dist/, step by step, and prints each step with its time.
//   node scripts/build.js             npm run build: types are checked, the native library has all instruction-set levels
//   node scripts/build.js --strict    the same; a warning of the C++ compiler is a failure
//   node scripts/build.js --install   npm ci and npm start: types are not checked (scripts/transpile.js), the native
//                                     library is for this processor (scripts/build-native.js); nothing if the
//                                     sources are unchanged
//   node scripts/build.js --test      npm test and the other checks: the same, but C++ that does not compile is a failure
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const strict = process.argv.includes('--strict');
const test = process.argv.includes('--test');
const install = test || process.argv.includes('--install');
const stamp = join(root, 'dist', '.built');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Sources by name, size and time: unchanged if they equal those in the stamp. */
function sources() {
  const hash = createHash('sha256').update(process.version);
  const names = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))),
  );
  for (const name of [...names.sort(), 'package.json', 'package-lock.json', 'tsconfig.json']) {
    const { size, mtimeMs } = statSync(join(root, name));
    if (/\.\w+$/.test(name)) hash.update(`${name}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest('hex');
}

/** @type {Record<string, string[]>} */
const steps = install
  ? {
      'TypeScript (types are not checked)': ['scripts/transpile.js'],
      'tables and kernels': ['scripts/copy-assets.js'],
      'the command line': ['scripts/build-cli.js'],
      'the page': ['scripts/build-page.js'],
      licences: ['scripts/sbom.js'],
      ...(test ? {} : { 'the cpu backend': ['scripts/build-native.js', '--lenient'] }),
    }
  : {
      TypeScript: [tsc, '-p', 'tsconfig.json'],
      "the page's types": [tsc, '-p', 'src/page'],
      'tables and kernels': ['scripts/copy-assets.js'],
      'the command line': ['scripts/build-cli.js'],
      'the page': ['scripts/build-page.js'],
      interfaces: ['scripts/check-interface.js'],
      'the cpu backend': ['scripts/build-native.js', ...(strict ? ['--strict'] : [])],
    };

const found = sources();
const isBuilt =
  install &&
  existsSync(stamp) &&
  readFileSync(stamp, 'utf8') === found &&
  ['cli/joined/program.js', ...(test ? [] : ['native/build.json']), 'THIRD-PARTY-NOTICES.txt'].every((name) =>
    existsSync(join(root, 'dist', name)),
  );
if (!isBuilt) {
  build(steps);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(stamp, found);
}
// Always, since an installation goes on without a library that does not compile.
if (test) build({ 'the cpu backend': ['scripts/build-native.js', '--own'] });

/** @param {Record<string, string[]>} parts */
function build(parts) {
  for (const [what, words] of Object.entries(parts)) {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
    const seconds = (performance.now() - began) / 1000;
    if (seconds >= 1) console.error(`built ${what} (${seconds.toFixed(0)} s)`);
  }
}
