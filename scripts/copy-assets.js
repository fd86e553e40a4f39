// Carries what tsc leaves behind (tables of positions, kernel sources) from src/ to dist/, beside the compiled
// code that opens it.
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const assets = /\.(csv|json|cu|cuh)$/;
const root = new URL('..', import.meta.url).pathname;
for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !assets.test(entry.name)) continue;
  const from = join(entry.parentPath, entry.name);
  cpSync(from, from.replace(join(root, 'src'), join(root, 'dist')));
}
