// Joins the modules that tsc wrote for the command line into two files: Node takes longer to find and read a thousand
// small modules than to run them. dist/cli/joined/program.js is the part for --version and the list of commands,
// code.js everything else; each module in it runs when it is first imported. dist/cli/main.js uses them unless the
// output of tsc is newer. Workers, the library and tests use the modules themselves.
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(root, 'dist/cli');
const joined = join(cli, 'joined');
/** Imports as written by tsc and by esbuild. */
const importCall = /\bimport\(['"](\.[^'"]+)['"]\)/g;

/** Modules of the light part whose dynamic imports load the rest. */
const gates = ['program.js', 'commands.js'].map((name) => join(cli, name));
const behind = (
  await Promise.all(
    gates.map(async (gate) =>
      [...(await readFile(gate, 'utf8')).matchAll(importCall)].map(([, name]) => name),
    ),
  )
).flat();

/** Data, kernels and workers are found beside the module that names them; of zod's languages only English is used. */
const asBefore = {
  name: 'as-before',
  /** @param {import('esbuild').PluginBuild} build */
  setup: (build) => {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
    build.onLoad({ filter: /\/dist\/.*\.js$/ }, async ({ path }) => {
      const own = `new URL(${JSON.stringify(relative(joined, path))}, import.meta.url).href`;
      const text = (await readFile(path, 'utf8')).replaceAll('import.meta.url', own);
      const contents = gates.includes(path)
        ? text.replaceAll(importCall, "import('./code.js').then(({ load }) => load['$1']())")
        : text;
      return { contents, loader: 'js' };
    });
  },
};

/** @type {import('esbuild').BuildOptions} */
const common = {
  ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning', metafile: true },
  // Half the text is read in half the time; names are kept for stack traces.
  ...{ minifyWhitespace: true, minifySyntax: true },
  // Positions in src/, for node --enable-source-maps.
  ...{ sourcemap: 'linked', sourcesContent: false, absWorkingDir: root },
  // commander too: its error classes must be the same in both files.
  external: ['commander', 'koffi', 'h5wasm', 'h5wasm/*', 'h5wasm-plugins', './code.js'],
  // Some dependencies are CommonJS and load Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireOfNode } from 'node:module'; const require = requireOfNode(import.meta.url);",
  },
  plugins: [asBefore],
};

await rm(joined, { recursive: true, force: true });
const table = behind
  .map((name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(name)})`)
  .join(',\n');
const made = await Promise.all([
  build({ ...common, entryPoints: [gates[0]], outfile: join(joined, 'program.js') }),
  build({
    ...common,
    stdin: { contents: `export const load = {\n${table}\n};`, resolveDir: cli, sourcefile: 'load.js' },
    outfile: join(joined, 'code.js'),
  }),
]);

/** Packages whose code is included. */
const packages = new Set(
  made.flatMap(({ metafile }) =>
    Object.keys(metafile?.inputs ?? {}).flatMap(
      (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
    ),
  ),
);
const notices = await Promise.all(
  [...packages].sort().map(async (folder) => {
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license']
      .map((name) => resolve(root, folder, name))
      .find((path) => existsSync(path));
    const name = folder.replace(/^.*node_modules\//, '');
    // Some give their licence only in package.json.
    const text = await readFile(file ?? resolve(root, folder, 'package.json'), 'utf8');
    return `${name}\n\n${text}`;
  }),
);
await writeFile(join(joined, 'LICENSES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
