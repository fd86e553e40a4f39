/** Full-polarisation StEFCal on a card, from its memory: pairs of both triangles in float32, gains in float64. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../../backend/cuda/session.js';
import { baselineCount } from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { MIXED_STEPS } from '../accelerate.js';
import { fitCommon, MOST_TOLERANCES, type CommonNormal } from '../common.js';
import { formOf, type FullBatch, type FullSolver, type ModelForm } from '../plan.js';
import { COMMON_SUMS, normalFrom } from './common-sums.js';
import {
  FAR,
  MIX_STATE,
  MIX_THREADS,
  MIX_WORK,
  pairBytes,
  pairsShape,
  planFullCommon,
  planFullMix,
  PAUSED,
  planFullStep,
  rowsShape,
  SETTLED,
} from './plan.js';

export interface CudaFullSolver extends FullSolver {
  /** So many iterations of the last batch again, without the blocks' making: what the bench measures. */
  readonly launchAgain: (iterations: number) => void;
}

/** Pairs, and what they are made of, on the card at a time. */
const MOST_BYTES = 8 * 2 ** 30;
/** Iterations between looks at whether all solves are done. */
const STEPS_AT_ONCE = 8;

export const prepareCudaFullSolver = (
  plan: { readonly stations: number; readonly solves: number },
  backend: CudaBackend,
): Promise<CudaFullSolver> => preparing((closers) => makeSolver(plan, backend, closers));

async function makeSolver(
  plan: { readonly stations: number; readonly solves: number },
  { session, shop }: CudaBackend,
  closers: Closers,
): Promise<CudaFullSolver> {
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
    how: allocate('flags', 4),
  };
  const up = closers.keep(session.allocatePinned('a calibration', atOnce * Math.max(baselines * 64, MIX_STATE.bytes, 512))); // prettier-ignore
  const down = closers.keep(session.allocatePinned('gains', atOnce * Math.max(gainBytes, COMMON_SUMS * 8)));
  const { view: mixWork } = fullMix.argument(0);
  const mixed = ['gains', 'next', 'history', 'lasts', 'states', 'done', 'exact', 'iterations', 'changes', 'sums', 'scales', 'units'] as const; // prettier-ignore
  for (const name of mixed) mixWork.setBigUint64(MIX_WORK[name], memory[name].pointer, true);

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
    /** Below 0 where the count is fixed. */
    readonly tolerance: number;
  }
  function step({ solves, form, most, tolerance }: Run): void {
    const names = ['pairs', 'gains', 'next', 'sums', 'done', 'exact', 'ratios'] as const;
    fullStep.set([...pointersOf(...names), solves, stations, form]);
    fullStep.launch(rowsShape(stations, solves), stream);
    mixWork.setFloat64(MIX_WORK.tolerance, tolerance, true);
    mixWork.setInt32(MIX_WORK.stations, stations, true);
    mixWork.setInt32(MIX_WORK.most, most, true);
    mixWork.setInt32(MIX_WORK.form, form, true);
    fullMix.launch({ grid: [solves, 1], threads: MIX_THREADS }, stream);
  }
  /** Until every solve is done; why each is. */
  async function iterate(run: Run): Promise<Int32Array> {
    for (let number = 1; ; number++) {
      step(run);
      if (number % STEPS_AT_ONCE !== 0 && number < run.most) continue;
      const flags = await receive(memory.done, new Int32Array(run.solves));
      if (flags.every((flag) => flag !== 0)) return flags;
    }
  }
  /** What all stations of each solve share, at its gains. */
  async function commonOf(solves: number): Promise<CommonNormal[]> {
    const names = ['data', 'model', 'weights', 'gains', 'sums', 'scales', 'units', 'parts'] as const;
    commonRows.set([...pointersOf(...names), solves, stations]);
    commonRows.launch(rowsShape(stations, solves), stream);
    commonTotals.set([...pointersOf('parts', 'totals'), stations]);
    commonTotals.launch({ grid: [solves, 1], threads: 96 }, stream);
    const totals = await receive(memory.totals, new Float64Array(COMMON_SUMS * solves));
    return Array.from({ length: solves }, (_, k) =>
      normalFrom(totals.subarray(COMMON_SUMS * k, COMMON_SUMS * (k + 1))),
    );
  }

  let launchAgain: (iterations: number) => void = () => undefined;

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
    const sizes = scalesOf(own, solves);
    const run: Run = {
      ...{ solves, form: sizes.form },
      ...(rule.kind === 'fixed'
        ? { most: rule.count, tolerance: -1 }
        : { most: rule.most, tolerance: rule.tolerance }),
    };
    await send(memory.data, own.data);
    await send(memory.model, own.model);
    await send(memory.weights, own.weights);
    await send(memory.scales, sizes.scales);
    await send(memory.ratios, sizes.ratios);
    await send(memory.units, sizes.units);
    const unlearnt = new DataView(new ArrayBuffer(solves * MIX_STATE.bytes));
    for (let k = 0; k < solves; k++)
      unlearnt.setFloat64(k * MIX_STATE.bytes + MIX_STATE.leastChange, FAR, true);
    await send(memory.states, new Uint8Array(unlearnt.buffer));
    await send(memory.done, new Int32Array(solves));
    await send(memory.exact, new Int32Array(solves));
    await send(memory.iterations, new Int32Array(solves));
    await send(
      memory.gains,
      own.gains.map((value, n) => value / sizes.units[Math.floor(n / (8 * stations))]),
    );
    const names = ['data', 'model', 'weights', 'scales', 'pairs'] as const;
    makePairs.set([...pointersOf(...names), solves, stations, run.form]);
    makePairs.launch(pairsShape(stations, solves), stream);
    const changes = new Float64Array(solves);
    let common: CommonNormal[] = [];
    let ran = new Int32Array(solves);
    for (;;) {
      const flags = await iterate(run);
      changes.set(await receive(memory.changes, new Float64Array(solves)));
      ran = await receive(memory.iterations, new Int32Array(solves));
      common = await commonOf(solves);
      const fits = common.map(fitCommon);
      const how = fits.map(({ size }, k) => {
        if (flags[k] === PAUSED) return 1;
        if (flags[k] !== SETTLED || !(size >= MOST_TOLERANCES * run.tolerance)) return 0;
        changes[k] = size;
        return ran[k] < run.most ? 2 : 0;
      });
      if (how.every((one) => one === 0)) break;
      await send(memory.turns, Float64Array.from(fits.flatMap(({ turn }) => [...turn])));
      await send(memory.amends, Float64Array.from(fits.flatMap(({ amends }) => [...amends])));
      await send(memory.how, Int32Array.from(how));
      const names = ['gains', 'turns', 'amends', 'how', 'iterations', 'states', 'done'] as const;
      fullResume.set([...pointersOf(...names), stations, run.form]);
      fullResume.launch({ grid: [solves, 1], threads: MIX_THREADS }, stream);
    }
    launchAgain = (iterations) => {
      for (const { pointer } of [memory.done, memory.exact, memory.iterations])
        session.call('cuMemsetD8Async', pointer, 0, solves * 4, stream.handle);
      for (let number = 0; number < iterations; number++)
        step({ ...run, most: iterations + 1, tolerance: -1 });
    };
    const found = await receive(memory.next, new Float64Array(8 * solves * stations));
    found.forEach((value, n) => {
      own.gains[n] = value * sizes.units[Math.floor(n / (8 * stations))];
    });
    ran.forEach((made, k) => {
      batch.iterationsRun[first + k] = made;
      batch.lastChange[first + k] = changes[k];
      batch.commonNormal.set(common[k].normal, 64 * (first + k));
      batch.commonVariance[first + k] = common[k].variance;
    });
  }

  return {
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

/**
 * With G = γ G′, V′ = σ V and M′ = μ M: G′ = N′ D′⁻¹ · μ/(σ γ²), the largest of each near 1. scales : [k][σ, μ].
 */
function scalesOf(
  { data, model, weights, gains }: Pick<FullBatch, 'data' | 'model' | 'weights' | 'gains'>,
  solves: number,
): {
  readonly scales: Float64Array;
  readonly ratios: Float64Array;
  readonly units: Float64Array;
  /** That fits all pairs. */
  readonly form: ModelForm;
} {
  const baselines = weights.length / solves;
  const each = gains.length / solves;
  const scales = new Float64Array(2 * solves);
  const ratios = new Float64Array(solves);
  const units = new Float64Array(solves);
  const forms = Array.from({ length: solves }, (_, k) => formOf({ model, weights, solves }, k));
  for (let k = 0; k < solves; k++) {
    let [sigma, mu, gamma] = [0, 0, 0];
    for (let b = k * baselines; b < (k + 1) * baselines; b++) {
      if (weights[b] === 0) continue;
      const root = Math.sqrt(weights[b]);
      for (let n = 8 * b; n < 8 * b + 8; n++) {
        sigma = Math.max(sigma, root * Math.abs(data[n]));
        mu = Math.max(mu, root * Math.abs(model[n]));
      }
    }
    for (let n = k * each; n < (k + 1) * each; n++) gamma = Math.max(gamma, Math.abs(gains[n]));
    scales.set([1 / (sigma || 1), 1 / (mu || 1)], 2 * k);
    units[k] = gamma || 1;
    ratios[k] = scales[2 * k + 1] / scales[2 * k] / units[k] ** 2;
  }
  return { scales, ratios, units, form: forms.reduce<ModelForm>((a, b) => (a > b ? a : b), 0) };
}
