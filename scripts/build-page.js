// The browser's part: src/page → dist/page, one script and one style sheet, without external resources. tsc checks the
// types beforehand; a page larger than its limit fails.
//   node scripts/build-page.js [--lenient]   with --lenient a machine without esbuild goes on without the page
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Compressed, all files together. */
const MOST_BYTES = 150_000;

const root = new URL('..', import.meta.url).pathname;
const from = join(root, 'src', 'page');
const to = join(root, 'dist', 'page');
const isLenient = process.argv.includes('--lenient');

async function build() {
  const { build: bundle } = await import('esbuild');
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  await bundle({
    entryPoints: { app: join(from, 'main.ts') },
    outdir: to,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  await bundle({
    entryPoints: { app: join(from, 'style.css') },
    outdir: to,
    bundle: true,
    minify: true,
    logLevel: 'warning',
  });
  // Tests of single modules, for Node: the page itself is tested in a browser (scripts/test-page.js).
  await bundle({
    entryPoints: readdirSync(from)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(from, name)),
    outdir: to,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) cpSync(join(from, name), join(to, name));
  const sizes = ['index.html', 'app.js', 'app.css', 'icon.svg'].map(
    (name) => gzipSync(readFileSync(join(to, name)), { level: 9 }).length,
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > MOST_BYTES) throw new Error(`the page is ${total} bytes compressed, more than ${MOST_BYTES}`);
  console.log(`page: ${total} bytes compressed`);
}

try {
  await build();
} catch (error) {
  if (!isLenient) throw error;
  console.warn(`page: not built (${error instanceof Error ? error.message : String(error)})`);
}
