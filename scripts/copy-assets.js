// Copies files that tsc does not handle (tables of positions, kernel sources) from src/ to dist/, beside the compiled
// code that opens them, and removes files without a source from dist/: otherwise a test of a moved file would still
// run.
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const source = join(root, 'src');
const built = join(root, 'dist');
const assets = /\.(csv|json|cu|cuh|yml)$/;
const compiled = /\.(?:js|js\.map|d\.ts)$/;
/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

for (const name of filesBelow(source)) {
  // build-page.js builds the page.
  if (assets.test(name) && !name.startsWith('page/')) cpSync(join(source, name), join(built, name));
}
for (const name of filesBelow(built)) {
  // Other scripts build native libraries, the page and the joined command line.
  if (/^(?:native|page|cli\/joined)/.test(name)) continue;
  const from = compiled.test(name) ? name.replace(compiled, '.ts') : assets.test(name) ? name : undefined;
  if (from !== undefined && !existsSync(join(source, from))) rmSync(join(built, name));
}
