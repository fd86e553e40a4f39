/**
 * StEFCal on a card. The matrices are made there in float64 and kept in float32, scaled so that gains and B are near 1.
 * Where the chip holds them, all iterations run in one launch; a tolerance finer than float32's precision is reached by
 * a few more iterations from memory, with gains and sums in float64. Problems too large for the chip run from memory
 * entirely.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import { baselineCount } from '../../core/axes.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import { Copies } from './copies.js';
import { FINEST_FLOAT32, limitsOf, prepareChip, type ChipBatch } from './chip.js';
import { JUDGE_TOLERANCE, matricesShape, planMatrices, planStreaming, type ChipVariant } from './plan.js';
import type { CalibrationPlan, IterationRule, SolveBatch } from '../plan.js';
import { relativeChange } from '../reference.js';

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
): Promise<CudaSolver> =>
  preparing(
    async (closers) => new CudaSolver(plan, backend, await prepareParts(plan, backend, options, closers)),
  );

async function prepareParts(
  { stations, solves, iterations }: SolverPlan,
  backend: CudaBackend,
  { hold, variant }: CudaSolverOptions,
  closers: Closers,
) {
  const { session, shop } = backend;
  const baselines = baselineCount(stations);
  const bytesPerSolve = baselines * 40 + stations ** 2 * 12;
  const atOnce = Math.max(1, Math.min(solves, Math.floor(MOST_BYTES / bytesPerSolve)));
  const size = { stations, solves: atOnce, rule: iterations.kind, variant };
  const chip = hold === 'memory' ? undefined : await prepareChip(backend, size);
  if (chip) closers.keep(chip);
  const kernels = { ...(await shop.prepare(planMatrices())), ...(await shop.prepare(planStreaming())) };
  const allocate = (what: string, bytes: number): DeviceMemory =>
    closers.keep(session.allocate(what, atOnce * bytes));
  const memory = {
    data: allocate('correlations', baselines * 16),
    model: allocate('the model', baselines * 16),
    weights: allocate('weights', baselines * 8),
    scales: allocate('scales', 16),
    numerator: allocate(`A of ${atOnce} solves of ${stations} stations`, stations ** 2 * 8),
    denominator: allocate(`B of ${atOnce} solves of ${stations} stations`, stations ** 2 * 4),
    first: allocate('first guesses', stations * 8),
    gains: allocate('gains', stations * 8),
    before: allocate('gains before', stations * 8),
    /** gains : [2][k][i], float64. */
    wide: allocate('gains', 2 * stations * 16),
    iterations: allocate('iterations', 4),
    started: allocate('iterations', 4),
    done: allocate('flags', 4),
  };
  const copies = new Copies(session, closers, {
    upBytes: atOnce * Math.max(baselines * 16, stations * 16),
    downBytes: atOnce * stations * 32,
  });
  return { closers, atOnce, chip, kernels, memory, copies };
}

/** Gains of all solves, those one iteration before, and the number of iterations. */
interface Found {
  readonly gains: Float64Array;
  readonly before: Float64Array;
  readonly iterations: Int32Array;
}

class CudaSolver implements Closable {
  /** Repeats the iterations of the last batch, without making the matrices: for benches. */
  launchAgain: () => void = () => undefined;

  constructor(
    private readonly plan: SolverPlan,
    private readonly backend: CudaBackend,
    private readonly parts: Awaited<ReturnType<typeof prepareParts>>,
  ) {}

  async solve(batch: SolveBatch): Promise<void> {
    const { atOnce } = this.parts;
    for (let first = 0; first < batch.solves; first += atOnce) {
      await this.solveSome(batch, first, Math.min(atOnce, batch.solves - first));
    }
  }

  close(): Promise<void> {
    return this.parts.closers.close();
  }

  private get stream() {
    return this.backend.session.streams.compute;
  }

  private async solveSome(batch: SolveBatch, first: number, solves: number): Promise<void> {
    const { stations } = this.plan;
    const { scaled, units } = await this.load(batch, first, solves);
    const { most, tolerance } = limitsOf(batch.iterations);
    const iterations = new Int32Array(solves);
    let found: Found = { gains: scaled, before: scaled, iterations };
    if (this.parts.chip) found = await this.onChip(scaled, solves, batch.iterations);
    if (!this.parts.chip || (tolerance > 0 && tolerance < FINEST_FLOAT32))
      found = await this.fromMemory(found, most, tolerance);
    for (let k = 0; k < solves; k++) {
      const range = [2 * k * stations, 2 * (k + 1) * stations] as const;
      const gains = found.gains.subarray(...range);
      batch.lastChange[first + k] = relativeChange(found.before.subarray(...range), gains);
      batch.iterationsRun[first + k] = found.iterations[k];
      for (let n = 0; n < 2 * stations; n++) {
        batch.gains[2 * (first + k) * stations + n] = gains[n] * units[k];
      }
    }
  }

  /** Some solves of a batch to the card, and their matrices made; the first guesses in units of each solve. */
  private async load(
    batch: SolveBatch,
    first: number,
    solves: number,
  ): Promise<{ readonly scaled: Float64Array; readonly units: Float64Array }> {
    const { stations } = this.plan;
    const baselines = baselineCount(stations);
    const { copies, memory, kernels } = this.parts;
    const part = (values: Float64Array, each: number): Float64Array =>
      values.subarray(first * each, (first + solves) * each);
    const guess = part(batch.gains, 2 * stations);
    const sizes = scalesOf(part(batch.model, 2 * baselines), part(batch.weights, baselines), {
      gains: guess,
      solves,
    });
    await copies.send(memory.data, part(batch.data, 2 * baselines));
    await copies.send(memory.model, part(batch.model, 2 * baselines));
    await copies.send(memory.weights, part(batch.weights, baselines));
    await copies.send(memory.scales, sizes.scales);
    const { data, model, weights, scales, numerator, denominator } = memory;
    const sources = [data.pointer, model.pointer, weights.pointer, scales.pointer];
    kernels.makeMatrices.set([...sources, numerator.pointer, denominator.pointer, solves, stations]);
    kernels.makeMatrices.launch(matricesShape(stations, solves), this.stream);
    const scaled = Float64Array.from(
      guess,
      (value, n) => value / sizes.gains[Math.floor(n / (2 * stations))],
    );
    return { scaled, units: sizes.gains };
  }

  private async onChip(guess: Float64Array, solves: number, rule: IterationRule): Promise<Found> {
    const { copies, memory, chip } = this.parts;
    await copies.send(memory.first, Float32Array.from(guess));
    const pointers: ChipBatch = {
      numerator: memory.numerator.pointer,
      denominator: memory.denominator.pointer,
      first: memory.first.pointer,
      gains: memory.gains.pointer,
      before: memory.before.pointer,
      iterations: memory.iterations.pointer,
    };
    this.launchAgain = () => {
      chip?.launch(pointers, solves, rule);
    };
    this.backend.meter.around('calibrate', this.stream, this.launchAgain);
    const { length } = guess;
    return {
      gains: Float64Array.from(await copies.receive(memory.gains, new Float32Array(length))),
      before: Float64Array.from(await copies.receive(memory.before, new Float32Array(length))),
      iterations: await copies.receive(memory.iterations, new Int32Array(solves)),
    };
  }

  /** Continues from the results so far; a solve that has had its most iterations is unchanged. */
  private async fromMemory(so: Found, most: number, tolerance: number): Promise<Found> {
    const { stations } = this.plan;
    const { copies, memory } = this.parts;
    const solves = so.iterations.length;
    const isDone = so.iterations.map((made) => (made >= most ? 1 : 0));
    if (isDone.every((flag) => flag === 1)) return so;
    const length = 2 * solves * stations;
    await copies.send(memory.started, so.iterations);
    await copies.send(memory.iterations, so.iterations);
    await copies.send(memory.done, isDone);
    await copies.send(memory.wide, so.gains);
    await this.backend.meter.around('calibrate', this.stream, () => this.iterate(solves, most, tolerance));
    const iterations = await copies.receive(memory.iterations, new Int32Array(solves));
    const even = await copies.receive(memory.wide, new Float64Array(length));
    const odd = await copies.receive(memory.wide, new Float64Array(length), length * 8);
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

  /** From wide[0] on, until every solve is done; the place of a solve's gains is its steps' parity. */
  private async iterate(solves: number, most: number, tolerance: number): Promise<void> {
    const { stations } = this.plan;
    const { copies, memory, kernels } = this.parts;
    const { stefcalStep, stefcalJudge } = kernels;
    const { numerator, denominator, wide, done, started, iterations } = memory;
    const grid = [stations, Math.min(solves, 65_535)] as const;
    stefcalJudge.argument(JUDGE_TOLERANCE).view.setFloat64(0, tolerance, true);
    for (let step = 1; ; step++) {
      const matrices = [numerator.pointer, denominator.pointer, wide.pointer, done.pointer];
      stefcalStep.set([...matrices, solves, stations, step]);
      stefcalStep.launch({ grid, threads: 128 }, this.stream);
      const flags = [wide.pointer, done.pointer, started.pointer, iterations.pointer];
      stefcalJudge.set([...flags, null, solves, stations, step, most]);
      stefcalJudge.launch({ grid: [solves, 1], threads: 128 }, this.stream);
      if (step % STEPS_AT_ONCE !== 0 && step < most) continue;
      const flagsNow = await copies.receive(done, new Int32Array(solves));
      if (flagsNow.every((flag) => flag !== 0)) return;
    }
  }
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
