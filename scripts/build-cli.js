// Joins the modules that tsc wrote for the command line into a few files, dist/cli/joined/: Node takes longer to find
// and read a thousand small modules than to run them. What one command needs and others do not is a file of its own,
// read when it is imported. An import through an entry point (index.js) is replaced by one of the file that defines
// the name, so that a command reads what it uses. dist/cli/main.js uses the joined files unless the output of tsc is
// newer. Workers, the library and tests use the modules themselves.
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const cli = join(dist, 'cli');
const joined = join(cli, 'joined');

/** Imports and exports of names as tsc and esbuild write them. */
const namesFrom = /^(import|export) \{([^}]*)\} from ['"](\.[^'"]+)['"];/gm;
/** @param {string} list @returns {[string, string][]} */
const namesIn = (list) =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => {
      const [name, own = name] = one.split(/\s+as\s+/);
      return [name, own];
    });

/** @type {Map<string, Map<string, [string, string]>>} */
const handedOn = new Map();
/**
 * The names that a module exports from others: the file and the name there.
 * @param {string} path
 */
function exportsFrom(path) {
  const known = handedOn.get(path);
  if (known) return known;
  const text = readFileSync(path, 'utf8');
  /** @type {Map<string, [string, string]>} */
  const imported = new Map();
  /** @type {Map<string, [string, string]>} */
  const found = new Map();
  for (const [, kind, names, from] of text.matchAll(namesFrom))
    for (const [name, own] of namesIn(names))
      (kind === 'export' ? found : imported).set(own, [resolve(dirname(path), from), name]);
  // esbuild imports first what it hands on.
  for (const [, names] of text.matchAll(/^export \{([^}]*)\};/gm))
    for (const [name, own] of namesIn(names)) {
      const from = imported.get(name);
      if (from) found.set(own, from);
    }
  handedOn.set(path, found);
  return found;
}

/** @param {string} path @param {string} name @returns {[string, string]} */
function definedIn(path, name) {
  const next = exportsFrom(path).get(name);
  return next ? definedIn(...next) : [path, name];
}

/** @param {string} path @param {string} text */
const withoutEntryPoints = (path, text) =>
  text.replaceAll(namesFrom, (_all, kind, names, from) =>
    namesIn(String(names))
      .map(([name, own]) => {
        const [file, there] = definedIn(resolve(dirname(path), String(from)), name);
        return `${kind} { ${there} as ${own} } from './${relative(dirname(path), file)}';`;
      })
      .join(''),
  );

/** Data, kernels and workers are found beside the module that names them; of zod's languages only English is used. */
const asBefore = {
  name: 'as-before',
  /** @param {import('esbuild').PluginBuild} build */
  setup: (build) => {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
    build.onLoad({ filter: /\/dist\/.*\.js$/ }, async ({ path }) => {
      if (!path.startsWith(dist)) return undefined;
      const own = `new URL(${JSON.stringify(relative(joined, path))}, import.meta.url).href`;
      const text = (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', own)
        // Of a namespace esbuild keeps what is used.
        .replace(/^import \{ z \} from ['"]zod['"];/m, "import * as z from 'zod';");
      return { contents: withoutEntryPoints(path, text), loader: 'js' };
    });
  },
};

await rm(joined, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [join(cli, 'program.js')],
  outdir: joined,
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  metafile: true,
  // Half the text is read in half the time; names are kept for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  // Positions in src/, for node --enable-source-maps.
  sourcemap: 'linked',
  sourcesContent: false,
  absWorkingDir: root,
  external: ['koffi', 'h5wasm', 'h5wasm/*', 'h5wasm-plugins'],
  // Imported at run time: of CommonJS esbuild would give the default alone, of its ES module all names.
  alias: { 'satellite.js': 'satellite.js/dist/satellite.es.js' },
  // Some dependencies are CommonJS and load Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireOfNode } from 'node:module'; const require = requireOfNode(import.meta.url);",
  },
  plugins: [asBefore],
});

/** Packages whose code is included. */
const packages = new Set(
  Object.keys(metafile.inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
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
