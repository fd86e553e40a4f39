/** Around the kernel of full polarisation: fills the batch, lets a backend iterate, fixes what stations share. */
import {
  baselineIndex,
  countsCB,
  gainsCA,
  visibilitiesCBPP,
  type VisibilitiesCBPP,
} from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { adjoint, timesMatrix } from '../../core/jones.js';
import { productCount } from '../../core/product-counts.js';
import {
  fillSolvable,
  LEAST_STATIONS,
  refuseCount,
  refuseDarkModel,
  refusePair,
  refuseTooFew,
  type CalibrationInput,
} from '../batch.js';
import type { CrossHanded, PolarisationFrame } from '../cross-hand.js';
import { dropStations, openLeftOut, type Dropped, type LeftOut, type LeftOutReason } from '../left-out.js';
import type { CalibrationPlan } from '../plan.js';
import { chooseReference, describeSolve, type Solution } from '../solve.js';
import { commonModes } from './common.js';
import { fixConvention } from './convention.js';
import { loopsOf, undetermined, type Loops } from './determined.js';
import { commonOutputs, formOf, type FullBatch, type FullSolver } from './plan.js';
import { solveFromElsewhere } from './starts.js';

/** As for gains of inputs, with the model's cross hands. */
export interface FullInput extends Omit<CalibrationInput, 'model'> {
  /** XX, XY, YX, YY of each pair. */
  readonly model: VisibilitiesCBPP;
}

export interface FullCalibration extends CrossHanded {
  readonly leakage: NonNullable<CrossHanded['leakage']>;
  readonly frame: PolarisationFrame;
}

export async function solveFull(
  plan: CalibrationPlan,
  solver: FullSolver,
  input: FullInput,
): Promise<FullCalibration> {
  const { stations, channels } = plan;
  if (plan.polarisations !== 2)
    refuse('calibrate', 'full polarisation takes two polarisations', 'solve these data without it');
  const { batch, withData, leftOut } = fillFull(plan, input);
  const byInput = leftOut.flatMap((list) => [list, list]);
  const referenceStation = chooseReference(plan, byInput);
  const guess = batch.gains.slice();
  await solver.solve(batch);
  await solveFromElsewhere(batch, guess, solver);

  const inputs = 2 * stations;
  const gains = gainsCA(new Float64Array(2 * channels * inputs).fill(Number.NaN), channels, inputs);
  const leakage = gainsCA(gains.slice(), channels, inputs);
  const solved = new Uint8Array(channels * inputs);
  const phaseRad = new Float64Array(channels).fill(Number.NaN);
  const errorRad = phaseRad.slice();
  const openRotations = new Uint8Array(channels).fill(3);
  const solutions: Solution[] = byInput.map((list, solve) =>
    describeSolve(plan, solve, { iterations: 0, lastChange: NaN, residual: NaN, leftOut: list }),
  );
  for (const [at, c] of withData.entries()) {
    const modes = commonModes(batch, at);
    fixConvention(batch, at, modes.open, referenceStation);
    openRotations[c] = Math.min(3, modes.open.length);
    errorRad[c] = modes.errorRad;
    const missing = new Set(leftOut[c].map(({ station }) => station));
    for (let s = 0; s < stations; s++) {
      if (missing.has(s)) continue;
      const own = batch.gains.subarray(8 * (at * stations + s), 8 * (at * stations + s + 1));
      const a = c * inputs + 2 * s;
      gains.set([own[0], own[1], own[6], own[7]], 2 * a);
      leakage.set([own[2], own[3], own[4], own[5]], 2 * a);
      solved.fill(1, a, a + 2);
    }
    const y = 2 * (c * inputs + 2 * referenceStation + 1);
    if (openRotations[c] === 0) phaseRad[c] = Math.atan2(gains[y + 1], gains[y]);
    const residuals = residualsOf(batch, at);
    for (let p = 0; p < 2; p++)
      solutions[2 * c + p] = describeSolve(plan, 2 * c + p, {
        iterations: batch.iterationsRun[at],
        lastChange: batch.lastChange[at],
        residual: residuals[p],
        leftOut: leftOut[c],
      });
  }
  const isKnown = phaseRad.some((phase) => !Number.isNaN(phase));
  return {
    gains,
    leakage,
    solved,
    solutions,
    referenceStation,
    frame: { openRotations, errorRad },
    crossHand: { how: isKnown ? 'model' : 'unknown', phaseRad },
  };
}

interface FilledFull {
  readonly batch: FullBatch;
  /** Channels in the order of the batch, which has only those with data. */
  readonly withData: readonly number[];
  /** For every channel. */
  readonly leftOut: readonly (readonly LeftOut[])[];
}

function fillFull(plan: CalibrationPlan, input: FullInput): FilledFull {
  const { stations, baselines, channels } = plan;
  visibilitiesCBPP(input.visibilities, channels, baselines, 2);
  visibilitiesCBPP(input.model, channels, baselines, 2);
  countsCB(input.counts, channels, baselines);
  const { flaggedInputs } = input;
  const isFlagged = (s: number): boolean => flaggedInputs[2 * s] + flaggedInputs[2 * s + 1] > 0;
  // A matrix needs all four products of a pair: its weight is the least of theirs.
  const ofProduct = (cell: number, n: number): number =>
    productCount({ ...input, polarisations: 2 }, cell, Math.floor(n / 2), n % 2);
  const least = (cell: number): number =>
    input.productCounts ? Math.min(...[0, 1, 2, 3].map((n) => ofProduct(cell, n))) : input.counts[cell];
  const isUsed = (c: number, i: number, j: number): boolean =>
    plan.usedBaselines[baselineIndex(i, j)] === 1 &&
    least(c * baselines + baselineIndex(i, j)) !== 0 &&
    !isFlagged(i) &&
    !isFlagged(j);
  const candidates = Array.from({ length: channels }, (_, c) => c).filter((c) => {
    for (let i = 0; i < stations; i++) for (let j = 0; j <= i; j++) if (isUsed(c, i, j)) return true;
    return false;
  });
  if (candidates.length === 0)
    refuse(
      'calibrate',
      'no baseline has samples: all are flagged or missing',
      'leave out fewer inputs (flags.inputs, `min-baseline`), or choose another integration',
    );
  const solves = candidates.length;
  const batch: FullBatch = {
    solves,
    stations,
    data: new Float64Array(8 * solves * baselines),
    model: new Float64Array(8 * solves * baselines),
    weights: new Float64Array(solves * baselines),
    gains: new Float64Array(8 * solves * stations),
    iterations: plan.iterations,
    iterationsRun: new Int32Array(solves),
    lastChange: new Float64Array(solves).fill(Infinity),
    ...commonOutputs(solves),
  };
  const leftOut: (readonly LeftOut[])[] = Array.from({ length: channels }, () =>
    Array.from({ length: stations }, (_, station) => ({
      station,
      reason: isFlagged(station) ? ('flagged' as const) : ('no baselines' as const),
    })),
  );
  const filled = fillSolvable(batch, candidates, (c, at) => {
    const where = `calibrate, channel ${c}`;
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        const from = c * baselines + baselineIndex(i, j);
        const count = least(from);
        if (!(count >= 0 && count < Infinity)) refuseCount(where, i, j, String(count));
        if (!isUsed(c, i, j)) continue;
        const to = at * baselines + baselineIndex(i, j);
        for (let n = 0; n < 8; n++) {
          batch.data[8 * to + n] = input.visibilities[8 * from + n] / ofProduct(from, Math.floor(n / 2));
          batch.model[8 * to + n] = input.model[8 * from + n];
          if (!Number.isFinite(batch.data[8 * to + n])) refusePair(where, i, j, 'visibility');
          if (!Number.isFinite(batch.model[8 * to + n])) refusePair(where, i, j, 'model');
        }
        batch.weights[to] = count;
      }
    }
    const { dropped } = dropUnsolvable(batch, at, where, isFlagged);
    const good = stations - dropped.length;
    if (good < LEAST_STATIONS) return () => refuseTooFew(where, good, stations);
    refuseOnePolarisation(batch, at, where);
    const open = undetermined(where, formOf(batch, at), usedLoops(batch, at));
    if (open) {
      leftOut[c] = openLeftOut(stations, dropped);
      return open;
    }
    leftOut[c] = dropped;
    firstGuess(batch, at);
    return undefined;
  });
  return { ...filled, leftOut };
}

/** Removes undetermined stations repeatedly, until the rest determine each other. */
function dropUnsolvable(
  { stations, solves, data, model, weights: all }: FullBatch,
  at: number,
  where: string,
  isFlagged: (s: number) => boolean,
): Dropped {
  const baselines = all.length / solves;
  const weights = all.subarray(at * baselines, (at + 1) * baselines);
  const isZero = (values: Float64Array, b: number): boolean =>
    values.subarray(8 * (at * baselines + b), 8 * (at * baselines + b + 1)).every((value) => value === 0);
  const pair = (i: number, j: number): number => (i >= j ? baselineIndex(i, j) : baselineIndex(j, i));
  if (weights.every((weight, b) => weight === 0 || isZero(model, b))) refuseDarkModel(where);
  const reasonAgainst = (i: number): LeftOutReason | undefined => {
    if (isFlagged(i)) return 'flagged';
    const used = Array.from({ length: stations }, (_, j) => j).filter((j) => j !== i && weights[pair(i, j)] > 0); // prettier-ignore
    if (used.length === 0) return 'no baselines';
    if (used.every((j) => isZero(model, pair(i, j)))) return 'no model';
    return used.every((j) => isZero(data, pair(i, j))) ? 'no signal' : undefined;
  };
  return dropStations(
    stations,
    weights,
    reasonAgainst,
    (i, j) => i !== j && weights[pair(i, j)] > 0 && !isZero(model, pair(i, j)),
  );
}

/** Of pairs that have data and a model. */
function usedLoops({ stations, solves, model, weights }: FullBatch, at: number): Loops {
  const first = (at * weights.length) / solves;
  const isLit = (b: number): boolean => model.subarray(8 * b, 8 * b + 8).some((value) => value !== 0);
  return loopsOf(stations, (b) => weights[first + b] > 0 && isLit(first + b));
}

/** A completely polarised sky excites only one combination of X and Y: the other is undetermined. */
function refuseOnePolarisation({ model, weights, solves }: FullBatch, at: number, where: string): void {
  const sum = new Float64Array(8);
  const baselines = weights.length / solves;
  weights.subarray(at * baselines, (at + 1) * baselines).forEach((weight, b) => {
    if (weight === 0) return;
    const own = model.subarray(8 * (at * baselines + b), 8 * (at * baselines + b + 1));
    timesMatrix(own, adjoint(own)).forEach((value, n) => (sum[n] += weight * value));
  });
  const determinant = sum[0] * sum[6] - sum[2] ** 2 - sum[3] ** 2;
  if (!(determinant > 1e-6 * ((sum[0] + sum[6]) / 2) ** 2))
    refuse(
      where,
      'the model is fully polarised, and does not determine one polarisation',
      'add a source that is not, or solve without products.gains.polarisation: full',
    );
}

/**
 * All good stations start equal, without leakage, with the amplitude that the brightness of data and model suggests.
 */
function firstGuess({ stations, solves, data, model, weights, gains }: FullBatch, at: number): void {
  const baselines = weights.length / solves;
  const alive = new Uint8Array(stations);
  let [product, power] = [0, 0];
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = at * baselines + baselineIndex(i, j);
      if (weights[b] === 0) continue;
      alive[i] = alive[j] = 1;
      let [ofData, ofModel] = [0, 0];
      for (let n = 8 * b; n < 8 * b + 8; n++) {
        ofData += data[n] ** 2;
        ofModel += model[n] ** 2;
      }
      product += weights[b] * Math.sqrt(ofData * ofModel);
      power += weights[b] * ofModel;
    }
  }
  const size = Math.sqrt(product / power);
  for (let s = 0; s < stations; s++) {
    const station = 8 * (at * stations + s);
    gains[station] = gains[station + 6] = alive[s] === 1 ? size : 0;
  }
}

/** For XX and for YY: weighted rms of |V − G M Gᴴ| over that of |V|. */
function residualsOf({ stations, solves, data, model, weights, gains }: FullBatch, at: number): number[] {
  const baselines = weights.length / solves;
  const [missed, total] = [[0, 0], [0, 0]]; // prettier-ignore
  const gainOf = (s: number): Float64Array =>
    gains.subarray(8 * (at * stations + s), 8 * (at * stations + s + 1));
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = at * baselines + baselineIndex(i, j);
      if (weights[b] === 0) continue;
      const seen = timesMatrix(timesMatrix(gainOf(i), model.subarray(8 * b, 8 * b + 8)), adjoint(gainOf(j)));
      for (let p = 0; p < 2; p++) {
        const [re, im] = [data[8 * b + 6 * p], data[8 * b + 6 * p + 1]];
        missed[p] += weights[b] * ((re - seen[6 * p]) ** 2 + (im - seen[6 * p + 1]) ** 2);
        total[p] += weights[b] * (re * re + im * im);
      }
    }
  }
  return missed.map((value, p) => Math.sqrt(value / total[p]));
}
