// npm test: builds what changed without checking types (npm run check), then runs tests.
//   npm test                            every test
//   npm test -- correlate               those with 'correlate' in their path
//   npm test -- --affected              tests of changes since HEAD, by the import graph; only what those tests need
//                                       is built, and types are not checked
//   npm test -- --affected --since main tests of the changes since another commit
//   npm test -- --affected --far        also tests that reach a change through other modules
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { affectedTests, importGraph, sourceFiles } from './import-graph.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);

/**
 * Runs a program; on failure ends with its exit code.
 * @param {string} program
 * @param {readonly string[]} args
 */
function must(program, args) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
/** @param {readonly string[]} args */
const node = (...args) => {
  must(process.execPath, args);
};

/** Files that differ from a commit, including untracked ones. @param {string} since */
function changedSince(since) {
  /** @param {readonly string[]} args */
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  return [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')];
}

function affected() {
  const since = words.includes('--since') ? words[words.indexOf('--since') + 1] : 'HEAD';
  const changed = changedSince(since).filter((path) => path.startsWith('src/'));
  const modules = new Set(sourceFiles().filter((name) => name.endsWith('.ts')));
  // Files other than TypeScript are read or bound by code beside them, or in the parent folder.
  const touched = changed.flatMap((path) => {
    const file = path.slice('src/'.length);
    if (modules.has(file)) return [file];
    const beside = [dirname(file), dirname(dirname(file))].map((folder) =>
      [...modules].filter((one) => dirname(one) === folder),
    );
    return beside.find((files) => files.length > 0) ?? [];
  });
  const { near, far } = affectedTests(importGraph(modules), touched);
  const chosen = words.includes('--far') ? [...near, ...far] : near;
  const left = words.includes('--far') ? 0 : far.length;
  console.log(
    `${changed.length} files of src/ changed since ${since}: ${chosen.length} test files` +
      (left > 0 ? `; ${left} more reach them through other modules (--far)` : ''),
  );
  if (chosen.length === 0) return;
  // Leaves type checking to the next build.
  node('scripts/transpile.js');
  node('scripts/copy-assets.js');
  if (changed.some((path) => path.startsWith('src/page/'))) node('scripts/build-page.js');
  if (changed.some((path) => /\.(?:cpp|h)$/.test(path)) || !existsSync(join(root, 'dist/native')))
    node('scripts/build-native.js', '--own');
  node('scripts/run-tests.js', ...chosen.map((file) => file.replace(/\.ts$/, '.js')));
}

if (words.includes('--affected')) affected();
else {
  node('scripts/build.js', '--test');
  node('scripts/run-tests.js', ...words);
}
