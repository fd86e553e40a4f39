// Runs every compiled test, or those whose path contains one of the words given: npm test -- correlate
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const words = process.argv.slice(2);
const files = readdirSync(join(root, 'dist'), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  .map((name) => relative(process.cwd(), join(root, 'dist', name)))
  .sort();
if (files.length === 0) {
  console.error(`no tests match ${words.join(' ') || '(nothing is built: npm run build)'}`);
  process.exit(1);
}
process.exit(spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status ?? 1);
