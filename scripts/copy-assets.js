// Carries what tsc leaves behind (tables of positions, kernel sources) from src/ to dist/, beside the compiled code that
// opens it, and takes out of dist/ what has no source any more: a test of a file that moved would still be run.
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
  // The page is built by build-page.js.
  if (assets.test(name) && !name.startsWith('page/')) cpSync(join(source, name), join(built, name));
}
for (const name of filesBelow(built)) {
  // Native libraries, the page and the joined command line are built by others.
  if (/^(?:native|page|cli\/joined)/.test(name)) continue;
  const from = compiled.test(name) ? name.replace(compiled, '.ts') : assets.test(name) ? name : undefined;
  if (from !== undefined && !existsSync(join(source, from))) rmSync(join(built, name));
}
