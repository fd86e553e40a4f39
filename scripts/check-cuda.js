// Checks the CUDA code on a machine without a GPU: the bindings against the toolkit's headers, and every kernel
// compiled over a set of plans, with its arguments and structures compared with those in TypeScript. Needs nvcc (or
// CUDA_HOME); reports and succeeds if there is none, unless --require. Run `npm run build` first.
//   --headers     stops before the kernels
//   --only WORD   kernels of sources with this in their name
//   --unless-passed  not if the same has passed (stamps.js)
//   --short       each source for every card once, its other plans for one card each, in turn: half the time
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { deviceAttributes } from '../dist/backend/cuda/device.js';
import { driverPrototypes, driverSymbols, keptSymbols } from '../dist/backend/cuda/driver.js';
import { compilerPrototypes, openCompiler } from '../dist/backend/cuda/nvrtc.js';
import { koffiType, parsePrototype } from '../dist/backend/cuda/prototypes.js';
import * as structs from '../dist/backend/cuda/structs.js';
import { assertionsOf, layoutAssertions } from './cuda-assertions.js';
import { everywhere, kernelJobs } from './cuda-kernels.js';
import { compile, headerFolders, nvcc } from './nvcc.js';
import { cudaBindings, stampOf, versionOf } from './stamps.js';

/** @typedef {import('./cuda-kernels.js').KernelJob} KernelJob */
/** @typedef {ReturnType<typeof openCompiler>} RuntimeCompiler */

const { values: options } = parseArgs({
  options: {
    require: { type: 'boolean', default: false },
    headers: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    'unless-passed': { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});
if (!nvcc) {
  console.log('no nvcc here: CUDA kernels are not checked (install the CUDA toolkit, or set CUDA_HOME)');
  process.exit(options.require ? 1 : 0);
}
const all = distinct(kernelJobs().filter(({ request }) => request.name.includes(options.only)));
const jobs = options.short ? shortened(all) : all;
const runtime = runtimeCompiler();
const isWhole = !options.headers && options.only === '';
const stamp = isWhole
  ? stampOf(`cuda${options.short ? '-short' : ''}${runtime ? '' : '-nvcc-alone'}`, [versionOf(nvcc)], {
      kernels: jobs.flatMap(({ request, architecture }) => [
        ...[architecture, request.name, request.source, assertionsOf(request)],
        ...[JSON.stringify(request.headers), JSON.stringify(request.defines)],
      ]),
      ...cudaBindings(),
    })
  : undefined;
if (options['unless-passed'] && stamp?.hasPassed()) process.exit(0);
/** @type {string[]} */
const problems = [];
const scratch = mkdtempSync(join(tmpdir(), 'corella-cuda-'));
try {
  checkBindings('cuda.h', driverPrototypes, driverSymbols, keptSymbols);
  checkBindings('nvrtc.h', compilerPrototypes);
  await checkStructures();
  if (!options.headers) await compileKernels();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
stamp?.write();

/**
 * Every bound prototype, word for word; every renamed symbol as in the header.
 * @param {string} header
 * @param {Readonly<Record<string, string>>} prototypes
 * @param {Readonly<Record<string, string | undefined>>} symbols
 * @param {Readonly<Record<string, string>>} kept
 */
function checkBindings(header, prototypes, symbols = {}, kept = {}) {
  const path = headerFolders()
    .map((folder) => join(folder, header))
    .find((one) => existsSync(one));
  if (!path) {
    console.log(`${header} is not installed: its bindings are not checked`);
    return;
  }
  const before = problems.length;
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, ' ');
  const plain = text.replace(/\bCUDAAPI\b/g, '').replace(/\s+/g, ' ');
  for (const [name, ours] of Object.entries(prototypes)) {
    const theirs = new RegExp(`([\\w ]+?[\\s*]+)${name}\\s*\\(([^)]*)\\)\\s*;`).exec(plain);
    if (!theirs) {
      problems.push(`${path} has no ${name}`);
      continue;
    }
    const result = theirs[1].trim().replace(/^.*\b(CUresult|nvrtcResult|const char)/, '$1');
    const theirText = `${result} ${name}(${theirs[2].trim()})`;
    if (normal(ours) !== normal(theirText))
      problems.push(`${name} differs from ${path}:\n  ours   ${ours}\n  theirs ${theirText}`);
    for (const { type } of parsePrototype(ours).parameters) koffiType(type); // throws if a type has no binding
    const symbol = symbols[name] ?? name;
    const renamed = symbolOf(name, text);
    if (!(name in kept) && symbol !== renamed)
      problems.push(`${name} stands for ${renamed} in ${path}, we take ${symbol}`);
  }
  if (problems.length === before)
    console.log(`${Object.keys(prototypes).length} bindings agree with ${path}`);
}

/** @param {string} prototype */
function normal(prototype) {
  const { result, parameters } = parsePrototype(prototype);
  return [result, ...parameters.map(({ type, name }) => `${type} ${name}`)]
    .map((one) => one.replace(/\s*\*\s*/g, '*').trim())
    .join(', ');
}

/**
 * The symbol of a name in the header: itself, `cuX_v2`, or a macro that adds a suffix only for per-thread streams.
 * @param {string} name
 * @param {string} text
 */
function symbolOf(name, text) {
  const found = new RegExp(`#define\\s+${name}\\s+(?:__CUDA_API_PTSZ|__CUDA_API_PTDS)?\\(?(\\w+)`).exec(text);
  return found ? found[1] : name;
}

/** Offsets in the driver's own structures that TypeScript writes to, checked by the compiler. */
async function checkStructures() {
  const s = structs;
  const source = [
    '#include <cuda.h>',
    '#include <cstddef>',
    ...layoutAssertions('CUlaunchConfig', { ...s.launchConfigLayout, bytes: s.LAUNCH_CONFIG_BYTES }),
    ...layoutAssertions('CUlaunchAttribute', { ...s.launchAttributeLayout, bytes: s.LAUNCH_ATTRIBUTE_BYTES }),
    ...layoutAssertions('CUDA_MEMCPY2D', { ...s.memcpy2DLayout, bytes: s.MEMCPY_2D_BYTES }),
    `static_assert(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == ${s.CLUSTER_DIMENSION}, "cluster");`,
    `static_assert(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == ${s.COOPERATIVE}, "cooperative");`,
    ...Object.entries(deviceAttributes).map(
      ([name, value]) => `static_assert(CU_DEVICE_ATTRIBUTE_${name} == ${value}, "${name}");`,
    ),
    'static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) <= 128, "CUtensorMap");',
  ].join('\n');
  const path = join(scratch, 'structures.cu');
  writeFileSync(path, source);
  const { failed, output } = await compile(['-c', '-o', join(scratch, 'structures.o'), path]);
  if (failed) problems.push(`structures differ from cuda.h:\n${output}`);
  else console.log('structures agree with cuda.h');
}

async function compileKernels() {
  if (jobs.length === 0) problems.push(`no kernel's source is named like '${options.only}'`);
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) await compileOne(jobs[next], next++, runtime);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  console.log(
    `${jobs.length} kernels${options.short ? ` of ${all.length}` : ''} tried for ${everywhere.join(', ')}, ${runtime ? 'also' : 'not'} by the run-time compiler`,
  );
}

/**
 * Removes plans with the same kernel.
 * @param {readonly KernelJob[]} jobs
 */
function distinct(jobs) {
  return [
    ...new Map(
      jobs.map((job) => {
        const { name, source, headers, defines } = job.request;
        return [JSON.stringify([name, source, headers, defines, job.architecture]), job];
      }),
    ).values(),
  ];
}

/**
 * For each source the first plan for every card; its other plans for one card each, in turn.
 * @param {readonly KernelJob[]} jobs
 */
function shortened(jobs) {
  /** @type {Map<string, KernelJob['request'][]>} the plans of each source, in order. */
  const plans = new Map();
  return jobs.filter(({ request, architecture }) => {
    const known = plans.get(request.name) ?? [];
    plans.set(request.name, known);
    if (!known.includes(request)) known.push(request);
    const turn = known.indexOf(request);
    const cards = jobs.filter((job) => job.request === request).map((job) => job.architecture);
    return turn === 0 || architecture === cards[turn % cards.length];
  });
}

/** The run-time compiler that GPU machines use, if it is installed: it accepts slightly less than nvcc. */
function runtimeCompiler() {
  try {
    return openCompiler();
  } catch {
    return undefined;
  }
}

/**
 * C75xx are notes of the assembler that it serialises wgmmas: no error, but a tenth of the speed.
 * @param {KernelJob} job
 * @param {number} n
 * @param {RuntimeCompiler | undefined} runtime
 */
async function compileOne({ request, architecture }, n, runtime) {
  const folder = join(scratch, String(n));
  mkdirSync(folder);
  writeFileSync(join(folder, request.name), `${request.source}\n${assertionsOf(request)}`);
  for (const [name, text] of Object.entries(request.headers)) writeFileSync(join(folder, name), text);
  const defines = Object.entries(request.defines).map(([name, value]) => `-D${name}=${value}`);
  const number = architecture.replace('sm_', '');
  const { failed, output } = await compile([
    ...['-cubin', '-std=c++17', `-gencode=arch=compute_${number},code=sm_${number}`, '-Xptxas', '-v'],
    ...[`-I${folder}`, ...defines, '-o', join(folder, 'out.cubin'), join(folder, request.name)],
  ]);
  const title = `${request.name} for ${architecture} with ${defines.join(' ') || 'no defines'}`;
  if (failed) problems.push(`${title} does not compile:\n${output}`);
  else if (/\(C75(?:1[0-8]|2\d)\)/.test(output))
    problems.push(`${title}: the assembler serialises wgmma:\n${output}`);
  await runtime
    ?.compile(request, { kind: 'cubin', architecture })
    .catch((/** @type {unknown} */ error) => problems.push(String(error)));
}
