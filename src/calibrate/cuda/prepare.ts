/**
 * StEFCal on a card. The matrices are made there in float64 and kept in float32, scaled so that gains and B are near 1.
 * Where the chip holds them, all iterations run in one launch; a tolerance finer than float32's precision is reached by
 * a few more iterations from memory, with gains and sums in float64. Problems too large for the chip run from memory
 * entirely.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import { offsetBy, type DeviceMemory, type PinnedMemory } from '../../backend/cuda/session.js';
import { baselineCount } from '../../core/axes.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import { FINEST_FLOAT32, limitsOf, prepareChip, type ChipBatch } from './chip.js';
import {
  describeWaves,
  JUDGE_TOLERANCE,
  matricesShape,
  planMatrices,
  planStreaming,
  type ChipVariant,
} from './plan.js';
import type { CalibrationPlan, SolveBatch, SolveKernel } from '../plan.js';
import { relativeChange } from '../reference.js';

interface CudaSolver extends Closable {
  readonly solve: SolveKernel;
  /** For reports: how the matrices are held. */
  readonly description: string;
  /** Repeats the iterations of the last batch, without making the matrices: for benches. */
  readonly launchAgain: () => void;
}

export interface CudaSolverOptions {
  /** `memory` does not use the chip's own memory, for comparison. */
  readonly hold?: 'best' | 'memory';
  /** This variant instead of the one that seems cheapest. */
  readonly variant?: ChipVariant;
}

/** Most memory for matrices, and their inputs, on the card at a time. */
const MOST_BYTES = 4 * 2 ** 30;
/** Iterations between tests of whether all solves are done. */
const STEPS_AT_ONCE = 16;

type SolverPlan = Pick<CalibrationPlan, 'stations' | 'solves' | 'iterations'>;

export const prepareCudaSolver = (
  plan: SolverPlan,
  backend: CudaBackend,
  options: CudaSolverOptions = {},
): Promise<CudaSolver> => preparing((closers) => makeSolver(plan, backend, options, closers));

async function makeSolver(
  plan: SolverPlan,
  backend: CudaBackend,
  options: CudaSolverOptions,
  closers: Closers,
): Promise<CudaSolver> {
  const { session, shop, meter } = backend;
  const { stations } = plan;
  const stream = session.streams.compute;
  const baselines = baselineCount(stations);
  const bytesPerSolve = baselines * 40 + stations ** 2 * 12;
  const atOnce = Math.max(1, Math.min(plan.solves, Math.floor(MOST_BYTES / bytesPerSolve)));
  const chip =
    options.hold === 'memory'
      ? undefined
      : await prepareChip(backend, {
          stations,
          solves: atOnce,
          rule: plan.iterations.kind,
          variant: options.variant,
        });
  if (chip) closers.keep(chip);
  const { makeMatrices } = await shop.prepare(planMatrices());
  const { stefcalStep, stefcalJudge } = await shop.prepare(planStreaming());

  const allocate = (what: string, bytes: number): DeviceMemory => closers.keep(session.allocate(what, bytes));
  const pin = (what: string, bytes: number): PinnedMemory =>
    closers.keep(session.allocatePinned(what, bytes));
  const arrived = closers.keep(session.createEvent());

  const memory = {
    data: allocate('correlations', atOnce * baselines * 16),
    model: allocate('the model', atOnce * baselines * 16),
    weights: allocate('weights', atOnce * baselines * 8),
    scales: allocate('scales', atOnce * 16),
    numerator: allocate(`A of ${atOnce} solves of ${stations} stations`, atOnce * stations ** 2 * 8),
    denominator: allocate(`B of ${atOnce} solves of ${stations} stations`, atOnce * stations ** 2 * 4),
    first: allocate('first guesses', atOnce * stations * 8),
    gains: allocate('gains', atOnce * stations * 8),
    before: allocate('gains before', atOnce * stations * 8),
    /** gains : [2][k][i], float64. */
    wide: allocate('gains', 2 * atOnce * stations * 16),
    iterations: allocate('iterations', atOnce * 4),
    started: allocate('iterations', atOnce * 4),
    done: allocate('flags', atOnce * 4),
  };
  const up = pin('a calibration', atOnce * Math.max(baselines * 16, stations * 16));
  const down = pin('gains', atOnce * stations * 32);

  async function send(to: DeviceMemory, values: NodeJS.TypedArray): Promise<void> {
    new Uint8Array(up.buffer).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    session.call('cuMemcpyHtoDAsync', to.pointer, up.pointer, values.byteLength, stream.handle);
    arrived.record(stream);
    await arrived.passed();
  }
  async function receive<Values extends Float32Array | Float64Array | Int32Array>(
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

  /**
   * Iterations from memory, from wide[0] on, until every solve is done; the place of a solve's gains is its steps'
   * parity.
   */
  async function iterateFromMemory(solves: number, most: number, tolerance: number): Promise<void> {
    const grid = [stations, Math.min(solves, 65_535)] as const;
    stefcalJudge.argument(JUDGE_TOLERANCE).view.setFloat64(0, tolerance, true);
    for (let step = 1, finished = false; !finished; step++) {
      const { numerator, denominator, wide, done, started, iterations } = memory;
      const matrices = [numerator.pointer, denominator.pointer, wide.pointer, done.pointer];
      stefcalStep.set([...matrices, solves, stations, step]);
      stefcalStep.launch({ grid, threads: 128 }, stream);
      const flags = [wide.pointer, done.pointer, started.pointer, iterations.pointer];
      stefcalJudge.set([...flags, null, solves, stations, step, most]);
      stefcalJudge.launch({ grid: [solves, 1], threads: 128 }, stream);
      if (step % STEPS_AT_ONCE === 0 || step >= most) {
        const flagsNow = await receive(done, new Int32Array(solves));
        finished = flagsNow.every((flag) => flag !== 0);
      }
    }
  }

  let launchAgain = (): void => undefined;

  async function solveSome(batch: SolveBatch, first: number, solves: number): Promise<void> {
    const part = (values: Float64Array, each: number): Float64Array =>
      values.subarray(first * each, (first + solves) * each);
    const sizes = scalesOf(part(batch.model, 2 * baselines), part(batch.weights, baselines), {
      gains: part(batch.gains, 2 * stations),
      solves,
    });
    await send(memory.data, part(batch.data, 2 * baselines));
    await send(memory.model, part(batch.model, 2 * baselines));
    await send(memory.weights, part(batch.weights, baselines));
    await send(memory.scales, sizes.scales);
    const { data, model, weights, scales, numerator, denominator } = memory;
    const sources = [data.pointer, model.pointer, weights.pointer, scales.pointer];
    makeMatrices.set([...sources, numerator.pointer, denominator.pointer, solves, stations]);
    makeMatrices.launch(matricesShape(stations, solves), stream);

    const scaled = Float64Array.from(
      part(batch.gains, 2 * stations),
      (value, n) => value / sizes.gains[Math.floor(n / (2 * stations))],
    );
    const { most, tolerance } = limitsOf(batch.iterations);
    let found: Found;
    if (chip) {
      await send(memory.first, Float32Array.from(scaled));
      const { first: guess, gains, before, iterations } = memory;
      const pointers: ChipBatch = {
        numerator: numerator.pointer,
        denominator: denominator.pointer,
        first: guess.pointer,
        gains: gains.pointer,
        before: before.pointer,
        iterations: iterations.pointer,
      };
      launchAgain = () => {
        chip.launch(pointers, solves, batch.iterations);
      };
      meter.around('calibrate', stream, launchAgain);
      found = {
        gains: Float64Array.from(await receive(memory.gains, new Float32Array(2 * solves * stations))),
        before: Float64Array.from(await receive(memory.before, new Float32Array(2 * solves * stations))),
        iterations: await receive(memory.iterations, new Int32Array(solves)),
      };
      if (tolerance > 0 && tolerance < FINEST_FLOAT32) found = await fromMemory(found, most, tolerance);
    } else {
      found = await fromMemory(
        { gains: scaled, before: scaled, iterations: new Int32Array(solves) },
        most,
        tolerance,
      );
    }
    for (let k = 0; k < solves; k++) {
      const range = [2 * k * stations, 2 * (k + 1) * stations] as const;
      const gains = found.gains.subarray(...range);
      batch.lastChange[first + k] = relativeChange(found.before.subarray(...range), gains);
      batch.iterationsRun[first + k] = found.iterations[k];
      for (let n = 0; n < 2 * stations; n++) {
        batch.gains[2 * (first + k) * stations + n] = gains[n] * sizes.gains[k];
      }
    }
  }

  /** Continues from the results so far; a solve that has had its most iterations is unchanged. */
  async function fromMemory(so: Found, most: number, tolerance: number): Promise<Found> {
    const solves = so.iterations.length;
    const isDone = so.iterations.map((made) => (made >= most ? 1 : 0));
    if (isDone.every((flag) => flag === 1)) return so;
    const length = 2 * solves * stations;
    await send(memory.started, so.iterations);
    await send(memory.iterations, so.iterations);
    await send(memory.done, isDone);
    await send(memory.wide, so.gains);
    await meter.around('calibrate', stream, () => iterateFromMemory(solves, most, tolerance));
    const iterations = await receive(memory.iterations, new Int32Array(solves));
    const even = await receive(memory.wide, new Float64Array(length));
    const odd = await receive(memory.wide, new Float64Array(length), length * 8);
    const [gains, before] = [so.gains.slice(), so.before.slice()];
    iterations.forEach((made, k) => {
      const steps = made - so.iterations[k];
      if (steps === 0) return;
      const [now, then] = steps % 2 === 0 ? [even, odd] : [odd, even];
      const range = [2 * k * stations, 2 * (k + 1) * stations] as const;
      gains.set(now.subarray(...range), range[0]);
      before.set(then.subarray(...range), range[0]);
    });
    return { gains, before, iterations };
  }

  return {
    description: chip ? describeWaves(chip.plan) : 'from memory',
    launchAgain: () => {
      launchAgain();
    },
    solve: async (batch) => {
      for (let first = 0; first < batch.solves; first += atOnce) {
        await solveSome(batch, first, Math.min(atOnce, batch.solves - first));
      }
    },
    close: () => closers.close(),
  };
}

/** Gains of all solves, those one iteration before, and the number of iterations. */
interface Found {
  readonly gains: Float64Array;
  readonly before: Float64Array;
  readonly iterations: Int32Array;
}

/**
 * With g = γ g′, A′ = A / (γ²β) and B′ = B / β the iteration is the same for g′: γ the largest first guess, β the
 * largest B. scales : [k][1/(γ²β), 1/β]; gains : [k], γ.
 */
function scalesOf(
  model: Float64Array,
  weights: Float64Array,
  { gains, solves }: { readonly gains: Float64Array; readonly solves: number },
): { readonly scales: Float64Array; readonly gains: Float64Array } {
  const baselines = weights.length / solves;
  const scales = new Float64Array(2 * solves);
  const sizes = new Float64Array(solves);
  for (let k = 0; k < solves; k++) {
    let [gamma, beta] = [0, 0];
    for (let n = (k * gains.length) / solves; n < ((k + 1) * gains.length) / solves; n += 2) {
      gamma = Math.max(gamma, gains[n] ** 2 + gains[n + 1] ** 2);
    }
    for (let b = k * baselines; b < (k + 1) * baselines; b++) {
      beta = Math.max(beta, weights[b] * (model[2 * b] ** 2 + model[2 * b + 1] ** 2));
    }
    sizes[k] = Math.sqrt(gamma);
    scales[2 * k] = 1 / (gamma * beta);
    scales[2 * k + 1] = 1 / beta;
  }
  return { scales, gains: sizes };
}
