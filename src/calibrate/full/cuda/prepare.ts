/** Full-polarisation StEFCal on a card, from its memory: blocks of both triangles in float32, gains in float64. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import { offsetBy, type DeviceMemory } from '../../../backend/cuda/session.js';
import { baselineCount } from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import type { FullBatch, FullSolver } from '../plan.js';
import { blocksShape, FULL_TOLERANCE, planFull, stepShape } from './plan.js';

export interface CudaFullSolver extends FullSolver {
  /** So many iterations of the last batch again, without the blocks' making: what the bench measures. */
  readonly launchAgain: (iterations: number) => void;
}

/** Blocks, and what they are made of, on the card at a time. */
const MOST_BYTES = 8 * 2 ** 30;
/** Iterations between looks at whether all solves are done. */
const STEPS_AT_ONCE = 16;

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
  const bytesPerSolve = baselines * 136 + stations ** 2 * 64;
  const atOnce = Math.max(1, Math.min(plan.solves, Math.floor(MOST_BYTES / bytesPerSolve)));
  const { makeBlocks, fullStep, fullJudge } = await shop.prepare(planFull());
  const allocate = (what: string, bytes: number): DeviceMemory => closers.keep(session.allocate(what, bytes));
  const arrived = closers.keep(session.createEvent());
  const memory = {
    data: allocate('correlations', atOnce * baselines * 64),
    model: allocate('the model', atOnce * baselines * 64),
    weights: allocate('weights', atOnce * baselines * 8),
    scales: allocate('scales', atOnce * 16),
    ratios: allocate('scales', atOnce * 8),
    blocks: allocate(`${atOnce} solves of ${stations} stations`, atOnce * stations ** 2 * 64),
    gains: allocate('gains', 2 * atOnce * stations * 64),
    done: allocate('flags', atOnce * 4),
    exact: allocate('flags', atOnce * 4),
    iterations: allocate('iterations', atOnce * 4),
    changes: allocate('changes', atOnce * 8),
  };
  const up = closers.keep(session.allocatePinned('a calibration', atOnce * baselines * 64));
  const down = closers.keep(session.allocatePinned('gains', atOnce * stations * 64));

  async function send(to: DeviceMemory, values: NodeJS.TypedArray): Promise<void> {
    new Uint8Array(up.buffer).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    session.call('cuMemcpyHtoDAsync', to.pointer, up.pointer, values.byteLength, stream.handle);
    arrived.record(stream);
    await arrived.passed();
  }
  async function receive<Values extends Float64Array | Int32Array>(
    from: DeviceMemory,
    values: Values,
    offsetBytes = 0,
  ): Promise<Values> {
    const source = offsetBy(from.pointer, offsetBytes);
    session.call('cuMemcpyDtoHAsync', down.pointer, source, values.byteLength, stream.handle);
    arrived.record(stream);
    await arrived.passed();
    new Uint8Array(values.buffer).set(new Uint8Array(down.buffer, 0, values.byteLength));
    return values;
  }
  function step(solves: number, number: number, most: number, tolerance: number): void {
    const { blocks, gains, done, exact, ratios, iterations, changes } = memory;
    const flags = [done.pointer, exact.pointer];
    fullStep.set([blocks.pointer, gains.pointer, ...flags, ratios.pointer, solves, stations, number]);
    fullStep.launch(stepShape(stations, solves), stream);
    fullJudge.argument(FULL_TOLERANCE).view.setFloat64(0, tolerance, true);
    const judged = [gains.pointer, ...flags, iterations.pointer, changes.pointer];
    fullJudge.set([...judged, null, solves, stations, number, most]);
    fullJudge.launch({ grid: [solves, 1], threads: 128 }, stream);
  }

  let launchAgain: (iterations: number) => void = () => undefined;

  async function solveSome(batch: FullBatch, first: number, solves: number): Promise<void> {
    const part = (values: Float64Array, each: number): Float64Array =>
      values.subarray(first * each, (first + solves) * each);
    const { iterations: rule } = batch;
    const [most, tolerance] = rule.kind === 'fixed' ? [rule.count, 0] : [rule.most, rule.tolerance];
    const own = {
      data: part(batch.data, 8 * baselines),
      model: part(batch.model, 8 * baselines),
      weights: part(batch.weights, baselines),
      gains: part(batch.gains, 8 * stations),
    };
    const sizes = scalesOf(own, solves);
    await send(memory.data, own.data);
    await send(memory.model, own.model);
    await send(memory.weights, own.weights);
    await send(memory.scales, sizes.scales);
    await send(memory.ratios, sizes.ratios);
    await send(memory.done, new Int32Array(solves));
    await send(memory.exact, new Int32Array(solves));
    await send(
      memory.gains,
      own.gains.map((value, n) => value / sizes.units[Math.floor(n / (8 * stations))]),
    );
    const { data, model, weights, scales, blocks } = memory;
    const sources = [data.pointer, model.pointer, weights.pointer, scales.pointer];
    makeBlocks.set([...sources, blocks.pointer, solves, stations]);
    makeBlocks.launch(blocksShape(stations, solves), stream);
    for (let number = 1, finished = false; !finished; number++) {
      step(solves, number, most, tolerance);
      if (number % STEPS_AT_ONCE === 0 || number >= most) {
        const flags = await receive(memory.done, new Int32Array(solves));
        finished = flags.every((flag) => flag !== 0);
      }
    }
    launchAgain = (iterations) => {
      session.call('cuMemsetD8Async', memory.done.pointer, 0, solves * 4, stream.handle);
      session.call('cuMemsetD8Async', memory.exact.pointer, 0, solves * 4, stream.handle);
      for (let number = 1; number <= iterations; number++) step(solves, number, iterations + 1, 0);
    };
    const ran = await receive(memory.iterations, new Int32Array(solves));
    const changes = await receive(memory.changes, new Float64Array(solves));
    const even = await receive(memory.gains, new Float64Array(8 * solves * stations));
    const odd = await receive(
      memory.gains,
      new Float64Array(8 * solves * stations),
      8 * solves * stations * 8,
    );
    ran.forEach((made, k) => {
      batch.iterationsRun[first + k] = made;
      batch.lastChange[first + k] = changes[k];
      const found = made % 2 === 0 ? even : odd;
      for (let n = 8 * k * stations; n < 8 * (k + 1) * stations; n++)
        own.gains[n] = found[n] * sizes.units[k];
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
): { readonly scales: Float64Array; readonly ratios: Float64Array; readonly units: Float64Array } {
  const baselines = weights.length / solves;
  const each = gains.length / solves;
  const scales = new Float64Array(2 * solves);
  const ratios = new Float64Array(solves);
  const units = new Float64Array(solves);
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
  return { scales, ratios, units };
}
