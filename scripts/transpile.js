// src/ → dist/ without type checking, in a second or two: for an installation in a clone. `npm run build` checks types
// and writes declarations (tsc).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const entryPoints = readdirSync(join(root, 'src'), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !/^page[\\/]/.test(name))
  .map((name) => join(root, 'src', name));

await build({
  entryPoints,
  outbase: join(root, 'src'),
  outdir: join(root, 'dist'),
  tsconfig: join(root, 'tsconfig.json'),
  format: 'esm',
  platform: 'node',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});
