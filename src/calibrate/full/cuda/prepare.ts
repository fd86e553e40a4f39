/**
 * Full-polarisation StEFCal on a card: pairs of both triangles in float32, gains in float64. Where a solve fits on the
 * chip its iterations are one launch (full-chip.cu); otherwise pairs are read from memory in each.
 */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../../backend/cuda/session.js';
import { baselineCount } from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { MIXED_STEPS } from '../accelerate.js';
import { relativeChange } from '../../reference.js';
import type { IterationRule } from '../../plan.js';
import type { FullBatch, FullSolver, ModelForm } from '../plan.js';
import type { FullChipVariant } from './chip-plan.js';
import { prepareFullChip, type FullChip } from './chip.js';
import {
  COMMON_SUMS,
  FAR,
  FIT_WORK,
  MIX_STATE,
  MIX_THREADS,
  MIX_WORK,
  pairBytes,
  pairsShape,
  planFullCommon,
  planFullFit,
  planFullMix,
  planFullSizes,
  planFullStep,
  rowsShape,
  sizesShape,
} from './plan.js';

interface CudaFullSolverOptions {
  /** `memory` does not use the chip's own memory, for comparison. */
  readonly hold?: 'best' | 'memory';
  /** This variant instead of the one that seems cheapest. */
  readonly variant?: FullChipVariant;
}

interface CudaFullSolver extends FullSolver {
  /** For reports: how the pairs of the last batch were held. */
  readonly description: () => string;
  /** Repeats so many iterations of the last batch, without making the blocks: for benches. */
  readonly launchAgain: (iterations: number) => void;
}

/** Most memory for pairs, and their inputs, on the card at a time. */
const MOST_BYTES = 8 * 2 ** 30;
/** Iterations between tests of whether all solves are done. */
const STEPS_AT_ONCE = 8;

export const prepareCudaFullSolver = (
  plan: { readonly stations: number; readonly solves: number },
  backend: CudaBackend,
  options: CudaFullSolverOptions = {},
): Promise<CudaFullSolver> => preparing((closers) => makeSolver(plan, backend, options, closers));

async function makeSolver(
  plan: { readonly stations: number; readonly solves: number },
  backend: CudaBackend,
  options: CudaFullSolverOptions,
  closers: Closers,
): Promise<CudaFullSolver> {
  const { session, shop } = backend;
  const { stations } = plan;
  const stream = session.streams.compute;
  const baselines = baselineCount(stations);
  const mostPairBytes = Math.max(...([0, 1, 2] as const).map((form) => pairBytes(stations, form)));
  const gainBytes = stations * 64;
  const bytesPerSolve = baselines * 136 + mostPairBytes + gainBytes * (2 * MIXED_STEPS + 20);
  const atOnce = Math.max(1, Math.min(plan.solves, Math.floor(MOST_BYTES / bytesPerSolve)));
  const { makePairs, fullStep } = await shop.prepare(planFullStep());
  const { fullMix, fullResume } = await shop.prepare(planFullMix());
  const { commonRows, commonTotals } = await shop.prepare(planFullCommon());
  const { fullFit } = await shop.prepare(planFullFit());
  const { largestOf, scaleSolves } = await shop.prepare(planFullSizes());
  const allocate = (what: string, bytes: number): DeviceMemory =>
    closers.keep(session.allocate(what, atOnce * bytes));
  const arrived = closers.keep(session.createEvent());
  const memory = {
    data: allocate('correlations', baselines * 64),
    model: allocate('the model', baselines * 64),
    weights: allocate('weights', baselines * 8),
    scales: allocate('scales', 16),
    ratios: allocate('scales', 8),
    units: allocate('scales', 8),
    pairs: allocate(`${atOnce} solves of ${stations} stations`, mostPairBytes),
    gains: allocate('gains', gainBytes),
    next: allocate('gains', gainBytes),
    sums: allocate('sums', stations * 96),
    history: allocate('steps', 2 * MIXED_STEPS * gainBytes),
    lasts: allocate('steps', 2 * gainBytes),
    states: allocate('steps', MIX_STATE.bytes),
    done: allocate('flags', 4),
    exact: allocate('flags', 4),
    iterations: allocate('iterations', 4),
    changes: allocate('changes', 8),
    parts: allocate('what stations share', stations * COMMON_SUMS * 8),
    totals: allocate('what stations share', COMMON_SUMS * 8),
    turns: allocate('what stations share', 64),
    amends: allocate('what stations share', 512),
    normals: allocate('what stations share', 512),
    variances: allocate('what stations share', 8),
    how: allocate('flags', 4),
    largest: allocate('scales', 16),
    forms: allocate('flags', 4),
  };
  const up = closers.keep(session.allocatePinned('a calibration', atOnce * Math.max(baselines * 64, MIX_STATE.bytes, 512))); // prettier-ignore
  const down = closers.keep(session.allocatePinned('gains', atOnce * Math.max(gainBytes, 512)));
  const { view: fitWork } = fullFit.argument(0);
  const fitted = ['totals', 'normals', 'variances', 'turns', 'amends', 'changes', 'done', 'iterations', 'how'] as const; // prettier-ignore
  for (const name of fitted) fitWork.setBigUint64(FIT_WORK[name], memory[name].pointer, true);

  async function send(to: DeviceMemory, values: NodeJS.TypedArray): Promise<void> {
    new Uint8Array(up.buffer).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    session.call('cuMemcpyHtoDAsync', to.pointer, up.pointer, values.byteLength, stream.handle);
    arrived.record(stream);
    await arrived.passed();
  }
  async function receive<Values extends Float64Array | Int32Array>(
    from: DeviceMemory,
    values: Values,
  ): Promise<Values> {
    session.call('cuMemcpyDtoHAsync', down.pointer, from.pointer, values.byteLength, stream.handle);
    arrived.record(stream);
    await arrived.passed();
    new Uint8Array(values.buffer).set(new Uint8Array(down.buffer, 0, values.byteLength));
    return values;
  }
  const pointersOf = (...names: (keyof typeof memory)[]) => names.map((name) => memory[name].pointer);

  interface Run {
    readonly solves: number;
    readonly form: ModelForm;
    readonly most: number;
    /** Below 0 for a fixed count. */
    readonly tolerance: number;
  }
  function setMix(mixWork: DataView, { form, most, tolerance }: Run): void {
    const mixed = ['gains', 'next', 'history', 'lasts', 'states', 'done', 'exact', 'iterations', 'changes', 'sums', 'scales', 'units'] as const; // prettier-ignore
    for (const name of mixed) mixWork.setBigUint64(MIX_WORK[name], memory[name].pointer, true);
    mixWork.setFloat64(MIX_WORK.tolerance, tolerance, true);
    mixWork.setInt32(MIX_WORK.stations, stations, true);
    mixWork.setInt32(MIX_WORK.most, most, true);
    mixWork.setInt32(MIX_WORK.form, form, true);
  }
  function step(run: Run): void {
    const { solves, form } = run;
    const names = ['pairs', 'gains', 'next', 'sums', 'done', 'exact', 'ratios'] as const;
    fullStep.set([...pointersOf(...names), solves, stations, form]);
    fullStep.launch(rowsShape(stations, solves), stream);
    setMix(fullMix.argument(0).view, run);
    fullMix.launch({ grid: [solves, 1], threads: MIX_THREADS }, stream);
  }
  /** From memory, until every solve is done or paused. */
  async function iterate(run: Run): Promise<void> {
    for (let number = 1; ; number++) {
      step(run);
      if (number % STEPS_AT_ONCE !== 0 && number < run.most) continue;
      const flags = await receive(memory.done, new Int32Array(run.solves));
      if (flags.every((flag) => flag !== 0)) return;
    }
  }
  const chips = new Map<string, FullChip | undefined>();
  async function chipFor(form: ModelForm, rule: IterationRule['kind']): Promise<FullChip | undefined> {
    if (options.hold === 'memory') return undefined;
    const name = `${form} ${rule}`;
    if (!chips.has(name)) {
      const { pairs, ratios, sums } = memory;
      const pointers = { pairs: pairs.pointer, ratios: ratios.pointer, sums: sums.pointer };
      const chip = await prepareFullChip(
        backend,
        { stations, solves: atOnce, form },
        rule,
        pointers,
        options.variant,
      );
      chips.set(name, chip && closers.keep(chip));
    }
    return chips.get(name);
  }
  /** What all stations of each solve share, at its gains; returns whether any continues. */
  async function fit({ solves, most, tolerance, form }: Run): Promise<boolean> {
    const names = ['data', 'model', 'weights', 'gains', 'sums', 'scales', 'units', 'parts'] as const;
    commonRows.set([...pointersOf(...names), solves, stations]);
    commonRows.launch(rowsShape(stations, solves), stream);
    commonTotals.set([...pointersOf('parts', 'totals'), stations]);
    commonTotals.launch({ grid: [solves, 1], threads: 96 }, stream);
    fitWork.setFloat64(FIT_WORK.tolerance, tolerance, true);
    fitWork.setInt32(FIT_WORK.most, most, true);
    fullFit.launch({ grid: [solves, 1], threads: 32 }, stream);
    const how = await receive(memory.how, new Int32Array(solves));
    if (how.every((one) => one === 0)) return false;
    const resumed = ['gains', 'turns', 'amends', 'how', 'iterations', 'states', 'done'] as const;
    fullResume.set([...pointersOf(...resumed), stations, form]);
    fullResume.launch({ grid: [solves, 1], threads: MIX_THREADS }, stream);
    return true;
  }
  /** Sizes of data, model and gains, gains in units of their own; the form common to all pairs. */
  async function size(solves: number): Promise<ModelForm> {
    session.call('cuMemsetD8Async', memory.largest.pointer, 0, solves * 16, stream.handle);
    session.call('cuMemsetD8Async', memory.forms.pointer, 0, solves * 4, stream.handle);
    const sources = ['data', 'model', 'weights', 'largest', 'forms'] as const;
    largestOf.set([...pointersOf(...sources), solves, stations]);
    largestOf.launch(sizesShape(stations, solves), stream);
    scaleSolves.set([...pointersOf('largest', 'gains', 'scales', 'ratios', 'units'), stations]);
    scaleSolves.launch({ grid: [solves, 1], threads: 256 }, stream);
    const forms = await receive(memory.forms, new Int32Array(solves));
    return Math.max(...forms) as ModelForm;
  }

  let launchAgain: (iterations: number) => void = () => undefined;
  let description = 'not solved yet';

  async function solveSome(batch: FullBatch, first: number, solves: number): Promise<void> {
    const part = (values: Float64Array, each: number): Float64Array =>
      values.subarray(first * each, (first + solves) * each);
    const { iterations: rule } = batch;
    const own = {
      data: part(batch.data, 8 * baselines),
      model: part(batch.model, 8 * baselines),
      weights: part(batch.weights, baselines),
      gains: part(batch.gains, 8 * stations),
    };
    await send(memory.data, own.data);
    await send(memory.model, own.model);
    await send(memory.weights, own.weights);
    await send(memory.gains, own.gains);
    const run: Run = {
      solves,
      form: await size(solves),
      ...(rule.kind === 'fixed'
        ? { most: rule.count, tolerance: -1 }
        : { most: rule.most, tolerance: rule.tolerance }),
    };
    const unlearnt = new DataView(new ArrayBuffer(solves * MIX_STATE.bytes));
    for (let k = 0; k < solves; k++)
      unlearnt.setFloat64(k * MIX_STATE.bytes + MIX_STATE.leastChange, FAR, true);
    await send(memory.states, new Uint8Array(unlearnt.buffer));
    await send(memory.done, new Int32Array(solves));
    await send(memory.exact, new Int32Array(solves));
    await send(memory.iterations, new Int32Array(solves));
    const names = ['data', 'model', 'weights', 'scales', 'pairs'] as const;
    makePairs.set([...pointersOf(...names), solves, stations, run.form]);
    makePairs.launch(pairsShape(stations, solves), stream);
    const chip = await chipFor(run.form, rule.kind);
    const { waves = 0 } = chip?.plan ?? {};
    description = chip ? `on the chip, ${waves} ${waves === 1 ? 'wave' : 'waves'}` : 'from memory';
    const launchChip = (of: Run): void => chip?.launch(solves, (view) => { setMix(view, of); }); // prettier-ignore
    do {
      if (chip) launchChip(run);
      else await iterate(run);
    } while (await fit(run));
    launchAgain = (iterations) => {
      for (const { pointer } of [memory.done, memory.exact, memory.iterations])
        session.call('cuMemsetD8Async', pointer, 0, solves * 4, stream.handle);
      const again: Run = { ...run, most: iterations, tolerance: -1 };
      if (chip && rule.kind === 'fixed') launchChip(again);
      else for (let number = 0; number < iterations; number++) step({ ...again, most: iterations + 1 });
    };
    const units = await receive(memory.units, new Float64Array(solves));
    const found = await receive(memory.next, new Float64Array(8 * solves * stations));
    const before = await receive(memory.gains, new Float64Array(8 * solves * stations));
    const changes = await receive(memory.changes, new Float64Array(solves));
    const ran = await receive(memory.iterations, new Int32Array(solves));
    part(batch.commonNormal, 64).set(await receive(memory.normals, new Float64Array(64 * solves)));
    part(batch.commonVariance, 1).set(await receive(memory.variances, new Float64Array(solves)));
    for (let k = 0; k < solves; k++) {
      const range = [8 * k * stations, 8 * (k + 1) * stations] as const;
      const gains = found.subarray(...range);
      batch.iterationsRun[first + k] = ran[k];
      batch.lastChange[first + k] =
        rule.kind === 'fixed' ? relativeChange(before.subarray(...range), gains) : changes[k];
      for (let n = 0; n < gains.length; n++) own.gains[range[0] + n] = gains[n] * units[k];
    }
  }

  return {
    description: () => description,
    launchAgain: (iterations) => {
      launchAgain(iterations);
    },
    solve: async (batch) => {
      for (let first = 0; first < batch.solves; first += atOnce)
        await solveSome(batch, first, Math.min(atOnce, batch.solves - first));
    },
    close: () => closers.close(),
  };
}
