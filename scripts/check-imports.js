// Checks the modules (docs/design.md): which may import which, through which entry point, and no cycles.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { importGraph, moduleOf as moduleNameOf, source, sourceFiles } from './import-graph.js';

const ground = ['core', 'messages', 'telescope', 'sky', 'delay', 'backend'];
const kernels = ['channelise', 'kurtosis', 'correlate', 'calibrate', 'image', 'beamform'];
const edges = ['formats', 'draw', 'packets', 'receive'];
const working = [...ground, ...kernels, ...edges];
/** From a stage to an observation that can be run. */
const composing = [...working, 'stages', 'compose'];
const observing = [...composing, 'fields', 'products', 'observation'];
/** Operations on observations, recordings and visibilities. */
const tasks = [
  'live',
  'farm',
  'serve',
  'inspect',
  'planner',
  'send',
  'skies',
  'visibilities',
  'demo',
  'pulsar',
  'gnss',
];
const used = [...observing, ...tasks, 'bench', 'qualify'];
/**
 * Allowed imports of each module. All others are forbidden.
 * @type {Record<string, readonly string[] | undefined>}
 */
const below = {
  core: [],
  messages: ['core'],
  telescope: ['core'],
  sky: ['core', 'telescope'],
  delay: ['core', 'telescope', 'sky'],
  backend: ['core'],
  packets: ['core'],
  receive: ['core', 'packets', 'backend'],
  ...Object.fromEntries(kernels.map((module) => [module, ground])),
  formats: ['core', 'telescope', 'sky'],
  draw: ['core', 'telescope', 'sky', 'image'],
  fields: ['core'],
  stages: working,
  compose: [...working, 'stages'],
  products: [...composing, 'fields'],
  observation: [...composing, 'fields', 'products'],
  live: observing,
  farm: observing,
  serve: [...observing, 'live', 'inspect'],
  inspect: observing,
  visibilities: observing,
  demo: [...composing, 'visibilities'],
  planner: [...composing, 'products', 'bench'],
  send: composing,
  skies: [...composing, 'gnss'],
  pulsar: working,
  gnss: [...working, 'fields'],
  bench: composing,
  // The browser's code: of the server it uses only the message types.
  page: ['serve'],
  qualify: [...composing, 'visibilities', 'skies', 'send', 'live', 'bench'],
  cli: used,
  acceptance: [...used, 'cli', 'index.ts'],
  // What programs import: src/index.ts, and the entry points to stages and kernels.
  library: [...observing, ...tasks],
  'index.ts': [...observing, ...tasks, 'library'],
};

/**
 * Entry points of a module for imports from outside; in modules not listed every file is one.
 * @type {Record<string, readonly string[] | undefined>}
 */
const entryPoints = {
  ...Object.fromEntries(kernels.map((module) => [module, ['index.ts', 'on-card.ts']])),
  formats: ['index.ts', 'format.ts'],
  draw: ['index.ts'],
  receive: ['index.ts', 'on-card.ts'],
  fields: ['index.ts'],
  messages: ['index.ts'],
  // Code that makes products in a live run is loaded when it runs.
  products: ['index.ts', 'making/images.ts', 'making/visibilities.ts', 'solve/index.ts', 'report/index.ts'],
  // A command's help needs its flags, but not the code that runs it.
  observation: ['index.ts', 'flags.ts', 'shorthands.ts'],
  ...Object.fromEntries(['stages', 'compose', ...tasks].map((module) => [module, ['index.ts']])),
  serve: ['index.ts', 'messages.ts'],
  qualify: ['index.ts'],
};
/** Modules that keep data on a GPU, and may import the GPU entry points. */
const mayUseCards = /^(?:planner|stages\/card|stages\/take-cells|compose\/front|bench)/;
/**
 * Shared cases and sample files are for tests, in any module.
 * @param {string} file
 */
const isForTests = (file) => /(?:^|\/)(?:testing\/.*|cases\.ts|compare\.ts|[^/]*testing\.ts)$/.test(file);
/** @param {string} file */
const isTest = (file) => file.endsWith('.test.ts') || isForTests(file) || file.startsWith('acceptance/');

const modules = new Set(sourceFiles().filter((name) => name.endsWith('.ts')));
const graph = importGraph(modules);

/** @type {string[]} */
const faults = [];
for (const [file, targets] of graph) {
  const module = moduleNameOf(file);
  const allowed = below[module];
  if (!allowed) faults.push(`src/${file}: '${module}' is no module; add it to scripts/check-imports.js`);
  for (const target of targets) {
    const there = moduleNameOf(target);
    if (there === module) continue;
    if (allowed && !allowed.includes(there)) {
      faults.push(`src/${file}: '${module}' may not import '${there}' (src/${target})`);
    }
    const inside = target.slice(there.length + 1);
    const ways = entryPoints[there];
    if (ways && !ways.includes(inside) && !(isTest(file) && isForTests(target))) {
      faults.push(
        `src/${file} goes past the entry point of '${there}' to src/${target}: enter by ${ways.join(' or ')}`,
      );
    }
    if (inside === 'on-card.ts' && !mayUseCards.test(file)) {
      faults.push(`src/${file} takes src/${target}, which is for those who keep data on a card`);
    }
  }
}

// Only its own folder compares a format's name: other code uses a property of the format.
const ofFormats = [...modules]
  .filter((file) => /^(?:packets|formats)\//.test(file) && !isTest(file))
  .flatMap((file) => [...readFileSync(join(source, file), 'utf8').matchAll(/^ {2}name: '([\w-]+)',$/gm)])
  .map(([, name]) => name);
const compared = new RegExp(`(?:[!=]==|\\bcase) '(?:${ofFormats.join('|')})'`);
if (ofFormats.length < 15) faults.push(`only ${ofFormats.length} names of formats were found`);
for (const file of modules) {
  if (/^(?:packets|formats)\//.test(file) || isTest(file)) continue;
  const [found] = compared.exec(readFileSync(join(source, file), 'utf8')) ?? [];
  if (found !== undefined)
    faults.push(`src/${file} compares a format's name (${found}): ask for a property of the format`);
}

// One chain from samples to spectra, for every source and machine.
const chainMakers = /\bprepare(?:Channelise|TakeSpectra)\(/;
const ofChains = [...modules].filter(
  (file) =>
    !isTest(file) && !file.startsWith('bench/') && chainMakers.test(readFileSync(join(source, file), 'utf8')),
);
if (ofChains.join() !== 'compose/front.ts')
  faults.push(`spectra are made by src/compose/front.ts alone, and here: ${ofChains.join(', ')}`);

// What is imported while the program runs closes no cycle.
const atLoad = importGraph(modules, { when: 'load' });
// Depth-first search; reaching a file that is still on the path closes a cycle.
/** @type {Set<string>} */
const done = new Set();
/**
 * @param {string} file
 * @param {readonly string[]} path
 */
function walk(file, path) {
  if (done.has(file)) return;
  const at = path.indexOf(file);
  if (at >= 0) {
    faults.push(
      `imports run in a circle: ${[...path.slice(at), file].map((name) => `src/${name}`).join(' → ')}`,
    );
    return;
  }
  for (const target of atLoad.get(file) ?? []) walk(target, [...path, file]);
  done.add(file);
}
for (const file of modules) walk(file, []);

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(
  `${modules.size} files, ${relative(process.cwd(), source) || 'src'}: imports go one way and by the entry points`,
);
