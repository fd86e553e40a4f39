// Checks the CUDA side on a machine without a card: the bindings against the toolkit's headers, and every kernel
// compiled over a set of plans. Needs nvcc (or CUDA_HOME); says so and succeeds where there is none, unless --require.
// Run `npm run build` first. --headers stops before the kernels.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = (path) => import(join(root, 'dist', path));
const problems = [];
const nvcc = findNvcc();
if (!nvcc) {
  console.log('no nvcc here: CUDA kernels are not checked (install the CUDA toolkit, or set CUDA_HOME)');
  process.exit(process.argv.includes('--require') ? 1 : 0);
}
const scratch = mkdtempSync(join(tmpdir(), 'corella-cuda-'));
try {
  await checkBindings();
  await checkStructures();
  if (!process.argv.includes('--headers')) await compileKernels();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}

function findNvcc() {
  const places = [process.env.CUDA_HOME, process.env.CUDA_PATH, '/usr/local/cuda'].filter(Boolean);
  const found = places.map((place) => join(place, 'bin', 'nvcc')).find((path) => existsSync(path));
  if (found) return found;
  try {
    return execFileSync('sh', ['-c', 'command -v nvcc'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

/** Folders of headers: the toolkit's, and those of the run-time compiler's Python package beside it. */
function headerFolders() {
  const real = execFileSync('readlink', ['-f', nvcc], { encoding: 'utf8' }).trim();
  const user = (process.env.CORELLA_CUDA_PATH ?? '').split(':').filter(Boolean);
  return [
    join(dirname(dirname(real)), 'include'),
    '/usr/local/cuda/include',
    ...user.map((folder) => join(folder, 'include')),
  ];
}

/** Every prototype we bind, word for word; every renamed symbol as the header renames it. */
async function checkBindings() {
  const { driverPrototypes, driverSymbols, keptSymbols } = await dist('backend/cuda/driver.js');
  const { compilerPrototypes } = await dist('backend/cuda/nvrtc.js');
  const { parsePrototype, koffiType } = await dist('backend/cuda/prototypes.js');
  for (const [header, prototypes, symbols, kept] of [
    ['cuda.h', driverPrototypes, driverSymbols, keptSymbols],
    ['nvrtc.h', compilerPrototypes, {}, {}],
  ]) {
    const path = headerFolders()
      .map((folder) => join(folder, header))
      .find((one) => existsSync(one));
    if (!path) {
      console.log(`${header} is not installed: its bindings are not checked`);
      continue;
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
      const normal = ({ result, parameters }) =>
        [result, ...parameters.map(({ type, name: parameter }) => `${type} ${parameter}`)]
          .map((one) => one.replace(/\s*\*\s*/g, '*').trim())
          .join(', ');
      const theirText = `${theirs[1].trim().replace(/^.*\b(CUresult|nvrtcResult|const char)/, '$1')} ${name}(${theirs[2].trim()})`;
      const parsed = parsePrototype(ours);
      if (normal(parsed) !== normal(parsePrototype(theirText))) {
        problems.push(`${name} differs from ${path}:\n  ours   ${ours}\n  theirs ${theirText}`);
      }
      for (const { type } of parsed.parameters) koffiType(type); // throws where a type has no binding
      const symbol = symbols[name] ?? name;
      const renamed = symbolOf(name, text);
      if (!(name in kept) && symbol !== renamed) {
        problems.push(`${name} stands for ${renamed} in ${path}, we take ${symbol}`);
      }
    }
    if (problems.length === before)
      console.log(`${Object.keys(prototypes).length} bindings agree with ${path}`);
  }
}

/** What the header's name stands for: itself, `cuX_v2`, or a macro that adds a suffix only for per-thread streams. */
function symbolOf(name, text) {
  const found = new RegExp(`#define\\s+${name}\\s+(?:__CUDA_API_PTSZ|__CUDA_API_PTDS)?\\(?(\\w+)`).exec(text);
  return found ? found[1] : name;
}

/** Offsets that TypeScript writes to, by the compiler's own word. */
async function checkStructures() {
  const s = await dist('backend/cuda/structs.js');
  const { deviceAttributes } = await dist('backend/cuda/device.js');
  const asserts = (type, layout, size) => [
    ...Object.entries(layout).map(
      ([field, at]) => `static_assert(offsetof(${type}, ${field}) == ${at}, "${type}.${field}");`,
    ),
    `static_assert(sizeof(${type}) == ${size}, "${type}");`,
  ];
  const source = [
    '#include <cuda.h>',
    '#include <cstddef>',
    ...asserts('CUlaunchConfig', s.launchConfigLayout, s.LAUNCH_CONFIG_BYTES),
    ...asserts('CUlaunchAttribute', s.launchAttributeLayout, s.LAUNCH_ATTRIBUTE_BYTES),
    ...asserts('CUDA_MEMCPY2D', s.memcpy2DLayout, s.MEMCPY_2D_BYTES),
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
  const { planXEngine, planFloatEngine, planTotals, hopperVariants } = await dist('correlate/cuda/plan.js');
  const { spectraRequest } = await dist('backend/cuda/spectra.js');
  const { ceilingRequest } = await dist('backend/cuda/ceilings.js');
  const { plainCeilingRequest } = await dist('backend/cuda/plain-ceilings.js');
  const everywhere = ['sm_80', 'sm_90a', 'sm_120'];
  const shapes = [
    { inputs: 1, polarisations: 1 },
    { inputs: 66, polarisations: 2 },
    { inputs: 1024, polarisations: 2 },
  ];
  const jobs = [];
  const add = (request, architectures) =>
    jobs.push(...architectures.map((architecture) => ({ request, architecture })));
  add(spectraRequest(), everywhere);
  add(ceilingRequest('hopper'), ['sm_90a']);
  add(ceilingRequest('tensor'), everywhere);
  add(ceilingRequest('dp4a'), everywhere);
  add(plainCeilingRequest(), everywhere);
  for (const shape of shapes) {
    add(planFloatEngine(shape).request, everywhere);
    add(planTotals(shape), everywhere);
    for (const mode of ['replace', 'add']) {
      add(planXEngine(shape, 'tensor', { mode }).request, everywhere);
      add(planXEngine(shape, 'dp4a', { mode }).request, everywhere);
      for (const [variant, { mostInputs }] of Object.entries(hopperVariants)) {
        if (shape.inputs <= mostInputs)
          add(planXEngine(shape, 'hopper', { mode, variant }).request, ['sm_90a']);
      }
    }
  }
  for (const request of await imageRequests()) add(request.request, request.architectures ?? everywhere);
  await addChannelise(add, everywhere);
  await addCalibrate(add, everywhere);
  const runtime = await runtimeCompiler();
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) await compileOne(jobs[next], next++, runtime);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  console.log(
    `${jobs.length} kernels tried for ${everywhere.join(', ')}, ${runtime ? 'also' : 'not'} by the run-time compiler`,
  );
}

/** The imagers' kernels: every box, one and two polarisations, odd sizes. */
async function imageRequests() {
  const image = await dist('image/cuda/plan.js');
  const { planSingle } = await dist('image/direct/cuda/single-plan.js');
  const { planVisibilities } = await dist('image/visibilities/cuda/plan.js');
  const folded = await dist('image/direct/cuda/folded-plan.js');
  const { halfCeilingRequest } = await dist('image/direct/cuda/half-ceiling.js');
  const shapes = [
    { pixels: 66, stations: 1, polarisations: 1, kernelSize: 1 },
    { pixels: 128, stations: 256, polarisations: 2, kernelSize: 5 },
    { pixels: 1024, stations: 33, polarisations: 2, kernelSize: 7 },
  ];
  const hopper = ['sm_90a'];
  const imagingOf = ({ request, refining }) =>
    [request, ...(refining ? [refining.request] : [])].map((one) => ({
      request: one,
      architectures: hopper,
    }));
  return [
    { request: halfCeilingRequest(), architectures: hopper },
    { request: image.planFinish('f32') },
    { request: image.planFinish('f64') },
    ...shapes.flatMap((shape) => [
      { request: image.planFactors(shape) },
      { request: planVisibilities(shape) },
      ...['integer', 'float'].map((samples) => ({
        request: planSingle(shape, { rows: 31, columns: 33, samples }),
      })),
      ...folded.FOLDED_BOXES.flatMap((box) =>
        ['half', 'split'].flatMap((precision) => [
          { request: folded.planGridding(shape, box, precision).request, architectures: hopper },
          ...imagingOf(folded.planImaging(shape, { box, precision, steps: 1000 })),
        ]),
      ),
    ]),
  ];
}

/** Every pass, sample and output type of the channeliser, and its kernels for one shape each. */
async function addChannelise(add, everywhere) {
  const { planChannelise } = await dist('channelise/plan.js');
  const { planFused, planStream } = await dist('channelise/cuda/plan.js');
  const { planLong } = await dist('channelise/cuda/long.js');
  const { planTensor } = await dist('channelise/cuda/tensor.js');
  const plan = (channels, taps, inputType, outputType) =>
    planChannelise({
      channels,
      taps,
      inputType,
      outputType,
      inputs: 2,
      polarisations: 1,
      blockSamples: 64 * channels,
    });
  add(planStream(), everywhere);
  for (const shape of [
    [16, 4, 'ci8', 'ci8'],
    [15, 64, 'i8', 'ci4'],
    [1024, 8, 'ci16', 'cf32'],
    [4096, 8, 'ci8', 'ci8'],
    [75, 3, 'i16', 'ci8'],
    [8192, 16, 'f32', 'cf32'],
    [97, 5, 'cf32', 'ci8'],
    [66, 3, 'i8', 'ci8'],
    [132, 8, 'ci8', 'ci4'],
    [1001, 3, 'ci8', 'ci8'],
    [2100, 8, 'i16', 'ci8'],
    [102, 3, 'i8', 'ci8'],
    [2 ** 20, 4, 'ci8', 'ci8'],
  ]) {
    for (const sharedBytesPerBlock of [101_376, 232_448]) {
      for (const { request } of planFused(plan(...shape), { sharedBytesPerBlock }).passes)
        add(request, everywhere);
    }
  }
  const card = { capability: 90, sharedBytesPerBlock: 232_448, path: 'hopper' };
  for (const taps of [1, 8, 13, 17]) {
    const { requests } = planTensor(plan(1024, taps, 'ci8', 'ci8'), card);
    for (const request of Object.values(requests)) add(request, ['sm_90a']);
    add(planLong(plan(4096, taps, 'ci8', 'ci8'), card).request, ['sm_90a']);
  }
}

/** StEFCal as the chip of several cards would hold it. */
async function addCalibrate(add, everywhere) {
  const { planChip, planMatrices, planStreaming } = await dist('calibrate/cuda/plan.js');
  add(planMatrices(), everywhere);
  add(planStreaming(), everywhere);
  const { planResident } = await dist('calibrate/cuda/resident-plan.js');
  for (const [stations, polarisations] of [
    [3, 1],
    [33, 2],
    [256, 2],
  ]) {
    for (const request of Object.values(planResident({ stations, polarisations }))) add(request, everywhere);
  }
  for (const [stations, solves] of [
    [3, 2],
    [33, 4],
    [256, 264],
    [500, 20],
    [1000, 1],
    [2000, 1],
  ]) {
    for (const [multiprocessors, sharedBytesPerBlock, architecture] of [
      [108, 166_912, 'sm_80'],
      [132, 232_448, 'sm_90a'],
      [188, 101_376, 'sm_120'],
    ]) {
      for (const rule of ['fixed', 'until']) {
        const card = { capability: 80, multiprocessors, sharedBytesPerBlock };
        const chip = planChip(stations, solves, card, rule);
        if (chip) add(chip.request, [architecture]);
      }
    }
  }
}

/** What compiles kernels on a card's machine, where it is installed: it takes a little less than nvcc does. */
async function runtimeCompiler() {
  const { openCompiler } = await dist('backend/cuda/nvrtc.js');
  try {
    return openCompiler();
  } catch {
    return undefined;
  }
}

/** C75xx are the assembler's notes that it runs wgmmas one by one: no error, but a tenth of the speed. */
async function compileOne({ request, architecture }, n, runtime) {
  const folder = join(scratch, String(n));
  mkdirSync(folder);
  writeFileSync(join(folder, request.name), request.source);
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
    .catch((error) => problems.push(String(error)));
}

function compile(words) {
  return new Promise((resolve) => {
    execFile(nvcc, words, { maxBuffer: 1e8 }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: `${stdout}${stderr}`.trim() });
    });
  });
}
