/**
 * Alternative starts. Stations that all start equal, without leakage, may be far from gains of any phase, and steps
 * then end at a local minimum: with 4 stations and a polarised model three in ten do, with 8 one in fourteen, with 12
 * none in two hundred. Where the misfit is larger than a false minimum could hide, other starts are tried, and the
 * deepest minimum is kept.
 */
import { randomStream } from '../../core/random.js';
import { timesMatrix } from '../../core/jones.js';
import { commonOutputs, type FullBatch, type FullSolver } from './plan.js';

/** False minima have a misfit of an eighth of the data or more: below this no other start is tried. */
const BELIEVED_MISFIT = 0.05;
/** With more stations only channels with a larger misfit than the others are tried. */
const FEW_STATIONS = 24;
const OUTLYING = 1.5;
/** A trial stops when the depth of its minimum is clear. */
const TRIAL = { kind: 'until', tolerance: 1e-3, most: 100 } as const;
/** Deeper than this is another minimum. */
const DEEPER = 0.95;

const R = Math.SQRT1_2;
/**
 * Factors for all stations' first guesses; with an unpolarised model all of them are the same start, and random ones
 * help.
 */
const TURNS = [
  [1, 0, 0, 0, 0, 0, -1, 0],
  [R, 0, R, 0, R, 0, -R, 0],
  [R, 0, 0, R, 0, R, R, 0],
] as const;
/** Random starts, with matrices of their own for each station. */
const CHANCES = 2;

/** After a solve from `guess` : [k][s][8]; solves with a deeper minimum elsewhere are replaced. */
export async function solveFromElsewhere(
  batch: FullBatch,
  guess: Float64Array,
  solver: FullSolver,
): Promise<void> {
  const tried = doubtful(batch);
  if (tried.length === 0) return;
  const trial: FullBatch = { ...copyOf(batch, tried), iterations: TRIAL };
  const best = tried.map((k) => batch.commonVariance[k]);
  const begin = pick(guess, batch.solves, tried);
  const from = pick(batch.gains, batch.solves, tried);
  for (let start = 0; start < TURNS.length + CHANCES; start++) {
    trial.gains.set(startOf(begin, start));
    await solver.solve(trial);
    trial.commonVariance.forEach((variance, n) => {
      if (!(variance < DEEPER * best[n])) return;
      best[n] = variance;
      const range = [8 * n * batch.stations, 8 * (n + 1) * batch.stations] as const;
      from.set(trial.gains.subarray(...range), range[0]);
    });
  }
  const deeper = tried.flatMap((k, n) => (best[n] < batch.commonVariance[k] ? [n] : []));
  if (deeper.length === 0) return;
  const last: FullBatch = { ...copyOf(trial, deeper), iterations: batch.iterations };
  last.gains.set(pick(from, tried.length, deeper));
  await solver.solve(last);
  deeper.forEach((n, at) => {
    const k = tried[n];
    if (!(last.commonVariance[at] < batch.commonVariance[k])) return;
    const put = (to: Float64Array | Int32Array, values: Float64Array | Int32Array): void => {
      const each = to.length / batch.solves;
      to.set(values.subarray(each * at, each * (at + 1)), each * k);
    };
    put(batch.gains, last.gains);
    put(batch.iterationsRun, last.iterationsRun);
    put(batch.lastChange, last.lastChange);
    put(batch.commonNormal, last.commonNormal);
    put(batch.commonVariance, last.commonVariance);
  });
}

/** Solves whose misfit is larger than the noise explains. */
function doubtful(batch: FullBatch): number[] {
  const misfits = Array.from({ length: batch.solves }, (_, k) => misfitOf(batch, k));
  const most = batch.stations <= FEW_STATIONS ? BELIEVED_MISFIT : Math.max(BELIEVED_MISFIT, OUTLYING * medianOf(misfits)); // prettier-ignore
  return misfits.flatMap((misfit, k) => (misfit > most ? [k] : []));
}

/** Rms of the misfit over that of the data. */
function misfitOf({ data, weights, solves, commonVariance }: FullBatch, k: number): number {
  const baselines = weights.length / solves;
  let [power, numbers] = [0, 0];
  for (let b = k * baselines; b < (k + 1) * baselines; b++) {
    if (weights[b] === 0) continue;
    for (let n = 8 * b; n < 8 * b + 8; n++) power += weights[b] * data[n] ** 2;
    numbers += 8;
  }
  return power > 0 ? Math.sqrt((commonVariance[k] * numbers) / power) : 0;
}

const medianOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function startOf(guess: Float64Array, start: number): Float64Array {
  const gains = new Float64Array(guess.length);
  const random = randomStream(start, 'other starts');
  for (let at = 0; at < guess.length; at += 8) {
    const turn = start < TURNS.length ? TURNS[start] : Array.from({ length: 8 }, () => R * random.gaussian());
    gains.set(timesMatrix(guess.subarray(at, at + 8), turn), at);
  }
  return gains;
}

/** The parts of these solves, one after the other. */
function pick(values: Float64Array, solves: number, which: readonly number[]): Float64Array {
  const each = values.length / solves;
  const picked = new Float64Array(each * which.length);
  which.forEach((k, n) => {
    picked.set(values.subarray(each * k, each * (k + 1)), each * n);
  });
  return picked;
}

const copyOf = (batch: FullBatch, which: readonly number[]): FullBatch => ({
  ...batch,
  solves: which.length,
  data: pick(batch.data, batch.solves, which),
  model: pick(batch.model, batch.solves, which),
  weights: pick(batch.weights, batch.solves, which),
  gains: new Float64Array(8 * batch.stations * which.length),
  iterationsRun: new Int32Array(which.length),
  lastChange: new Float64Array(which.length),
  ...commonOutputs(which.length),
});
