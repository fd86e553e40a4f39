/** From an integration to what a kernel solves: averages and checks the data, and leaves out what cannot be solved. */
import { baselineIndex, countsCB, countsCBPP, modelCBP, visibilitiesCBPP } from '../core/axes.js';
import type { CountsCB, CountsCBPP, ModelCBP, VisibilitiesCBPP } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { productCount } from '../core/product-counts.js';
import { refuseOpen } from './groups.js';
import { dropStations, openLeftOut, type Dropped, type LeftOut, type LeftOutReason } from './left-out.js';
import type { CalibrationPlan, SolveBatch } from './plan.js';

/** An Integration (core/blocks) and the model at its middle. */
export interface CalibrationInput {
  /** Sums over samples; divided by counts here. */
  readonly visibilities: VisibilitiesCBPP;
  /** Also the weights: a correlation of n samples has 1/n of the variance. 0 where there are no data. */
  readonly counts: CountsCB;
  /** Where products of a pair count differently (core/blocks). */
  readonly productCounts?: CountsCBPP;
  /** flaggedInputs : [a], 1 for an input to leave out. */
  readonly flaggedInputs: Uint8Array;
  readonly model: ModelCBP;
}

const polarisationName = (p: number): string => (p === 0 ? 'X' : 'Y');
export const solveName = (plan: CalibrationPlan, solve: number): string => {
  const channel = Math.floor(solve / plan.polarisations);
  return `calibrate, channel ${channel}, polarisation ${polarisationName(solve % plan.polarisations)}`;
};

interface FilledBatch {
  readonly batch: SolveBatch;
  /** Solves of the plan, k = c·P + p, in the order of the batch, which has only those with data. */
  readonly withData: readonly number[];
  /** For every solve of the plan. */
  readonly leftOut: readonly (readonly LeftOut[])[];
}

export function fillBatch(plan: CalibrationPlan, input: CalibrationInput): FilledBatch {
  checkShapes(plan, input);
  const { stations } = plan;
  // Whole channels are flagged in many files: those without data are left unsolved, the others are solved.
  const withData = Array.from({ length: plan.solves }, (_, solve) => solve).filter((solve) =>
    hasData(plan, input, solve),
  );
  const solves = withData.length;
  if (solves === 0) {
    refuse(
      'calibrate',
      'no baseline has samples: all are flagged or missing',
      'leave out fewer inputs (flags.inputs, `min-baseline`), or choose another integration',
    );
  }
  const batch: SolveBatch = {
    solves,
    stations,
    data: new Float64Array(2 * solves * plan.baselines),
    model: new Float64Array(2 * solves * plan.baselines),
    weights: new Float64Array(solves * plan.baselines),
    gains: new Float64Array(2 * solves * stations),
    iterations: plan.iterations,
    iterationsRun: new Int32Array(solves),
    lastChange: new Float64Array(solves).fill(Infinity),
  };
  const leftOut: (readonly LeftOut[])[] = Array.from({ length: plan.solves }, (_, solve) =>
    allLeftOut(plan, input, solve),
  );
  const filled = fillSolvable(batch, withData, (solve, at) => {
    fillSolve(plan, input, batch, { solve, at });
    const { dropped, isOpen } = dropUnsolvable(plan, input, batch, { solve, at });
    const good = stations - dropped.length;
    if (good < LEAST_STATIONS) return () => refuseTooFew(solveName(plan, solve), good, stations);
    if (isOpen) {
      leftOut[solve] = openLeftOut(stations, dropped);
      return () => refuseOpen(solveName(plan, solve), good);
    }
    leftOut[solve] = dropped;
    firstGuess(batch, at);
    return undefined;
  });
  return { ...filled, leftOut };
}

/** Gains of fewer are not determined. */
export const LEAST_STATIONS = 3;

/**
 * Flags may leave two stations of a channel: it then has no gains, the others have. `fill` puts a solve at its place in
 * the batch, or returns the refusal that applies if none can be solved.
 */
export function fillSolvable<Batch extends SolveBatch>(
  batch: Batch,
  candidates: readonly number[],
  fill: (solve: number, at: number) => (() => never) | undefined,
): { readonly batch: Batch; readonly withData: number[] } {
  const baselines = batch.weights.length / batch.solves;
  const numbers = batch.data.length / batch.weights.length;
  const withData: number[] = [];
  let refused: (() => never) | undefined;
  for (const solve of candidates) {
    const at = withData.length;
    const refusal = fill(solve, at);
    if (refusal === undefined) {
      withData.push(solve);
      continue;
    }
    refused ??= refusal;
    for (const part of [batch.data, batch.model])
      part.fill(0, numbers * at * baselines, numbers * (at + 1) * baselines);
    batch.weights.fill(0, at * baselines, (at + 1) * baselines);
  }
  if (withData.length === 0) refused?.();
  return { batch: firstSolves(batch, withData.length), withData };
}

function firstSolves<Batch extends SolveBatch>(batch: Batch, solves: number): Batch {
  if (solves === batch.solves) return batch;
  const part = <Values extends Float64Array | Int32Array>(values: Values): Values =>
    values.subarray(0, (values.length / batch.solves) * solves) as Values;
  return {
    ...batch,
    solves,
    data: part(batch.data),
    model: part(batch.model),
    weights: part(batch.weights),
    gains: part(batch.gains),
    iterationsRun: part(batch.iterationsRun),
    lastChange: part(batch.lastChange),
  };
}

function checkShapes(plan: CalibrationPlan, input: CalibrationInput): void {
  visibilitiesCBPP(input.visibilities, plan.channels, plan.baselines, plan.polarisations);
  countsCB(input.counts, plan.channels, plan.baselines);
  if (input.productCounts) countsCBPP(input.productCounts, plan.channels, plan.baselines, plan.polarisations);
  modelCBP(input.model, plan.channels, plan.baselines, plan.polarisations);
  if (input.flaggedInputs.length !== plan.stations * plan.polarisations) {
    refuse(
      'calibrate',
      `${input.flaggedInputs.length} input flags for ${plan.stations * plan.polarisations} inputs`,
    );
  }
}

export const refuseCount = (where: string, i: number, j: number, count: string): never =>
  refuse(where, `the sample count of stations ${i} and ${j} is ${count}`, 'counts are 0 or more');
export const refusePair = (where: string, i: number, j: number, which: 'visibility' | 'model'): never =>
  refuse(
    where,
    `the ${which} of stations ${i} and ${j} is not a finite number`,
    'flag one of the two stations, or correct what wrote it',
  );
export const refuseDarkModel = (where: string): never =>
  refuse(where, 'the model is zero on every baseline', 'give a model with a source above the horizon');
export const refuseTooFew = (where: string, good: number, stations: number): never =>
  refuse(
    where,
    `${good} of ${stations} stations have data and a model, and it takes three to solve for gains`,
    'flag fewer inputs, keep shorter baselines, or leave this channel out',
  );

/** A solve of the plan, k = c·P + p, and its place in the batch, which has only those with data. */
interface PlacedSolve {
  readonly solve: number;
  readonly at: number;
}

function hasData(plan: CalibrationPlan, input: CalibrationInput, solve: number): boolean {
  const { stations, polarisations, baselines, usedBaselines } = plan;
  const first = Math.floor(solve / polarisations) * baselines;
  const p = solve % polarisations;
  const counted = { ...input, polarisations };
  const flagged = (s: number): boolean => input.flaggedInputs[s * polarisations + p] > 0;
  for (let i = 0; i < stations; i++) {
    if (flagged(i)) continue;
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      // Counts below 0 and NaN are refused when they are copied.
      if (usedBaselines[b] === 1 && productCount(counted, first + b, p, p) !== 0 && !flagged(j)) return true;
    }
  }
  return false;
}

const allLeftOut = (
  { stations, polarisations }: CalibrationPlan,
  { flaggedInputs }: CalibrationInput,
  solve: number,
): LeftOut[] =>
  Array.from({ length: stations }, (_, station) => {
    const isFlagged = flaggedInputs[station * polarisations + (solve % polarisations)] > 0;
    return { station, reason: isFlagged ? 'flagged' : 'no baselines' };
  });

/** Averages the sums and copies data, model and weights of one channel and polarisation into the batch. */
function fillSolve(
  plan: CalibrationPlan,
  input: CalibrationInput,
  batch: SolveBatch,
  { solve, at }: PlacedSolve,
): void {
  const { stations, polarisations, baselines } = plan;
  const channel = Math.floor(solve / polarisations);
  const p = solve % polarisations;
  const counted = { ...input, polarisations };
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      const from = channel * baselines + b;
      const count = productCount(counted, from, p, p);
      if (!(count >= 0 && count < Infinity)) refuseCount(solveName(plan, solve), i, j, String(count));
      const flagged = input.flaggedInputs[i * polarisations + p] + input.flaggedInputs[j * polarisations + p];
      if (plan.usedBaselines[b] === 0 || flagged > 0 || count === 0) continue;
      const to = at * baselines + b;
      const visibility = 2 * ((from * polarisations + p) * polarisations + p);
      for (let part = 0; part < 2; part++) {
        batch.data[2 * to + part] = input.visibilities[visibility + part] / count;
        batch.model[2 * to + part] = input.model[2 * (from * polarisations + p) + part];
        if (!Number.isFinite(batch.data[2 * to + part]) || !Number.isFinite(batch.model[2 * to + part])) {
          const which = Number.isFinite(batch.data[2 * to + part]) ? 'model' : 'visibility';
          refusePair(solveName(plan, solve), i, j, which);
        }
      }
      batch.weights[to] = count;
    }
  }
}

/** Removes undetermined stations repeatedly, until the rest determine each other. */
function dropUnsolvable(
  plan: CalibrationPlan,
  input: CalibrationInput,
  batch: SolveBatch,
  { solve, at }: PlacedSolve,
): Dropped {
  const { stations, polarisations, baselines } = plan;
  const where = solveName(plan, solve);
  const weights = batch.weights.subarray(at * baselines, (at + 1) * baselines);
  const data = batch.data.subarray(2 * at * baselines, 2 * (at + 1) * baselines);
  const model = batch.model.subarray(2 * at * baselines, 2 * (at + 1) * baselines);
  const isZero = (values: Float64Array, b: number): boolean => values[2 * b] === 0 && values[2 * b + 1] === 0;
  if (weights.some((w) => w > 0) && weights.every((w, b) => w === 0 || isZero(model, b))) {
    refuseDarkModel(where);
  }
  const reasonAgainst = (i: number): LeftOutReason | undefined => {
    if (input.flaggedInputs[i * polarisations + (solve % polarisations)] > 0) return 'flagged';
    let used = 0;
    let modelled = 0;
    let signals = 0;
    for (let j = 0; j < stations; j++) {
      const b = i >= j ? baselineIndex(i, j) : baselineIndex(j, i);
      if (i === j || weights[b] === 0) continue;
      used++;
      if (!isZero(model, b)) modelled++;
      if (!isZero(data, b)) signals++;
    }
    if (used === 0) return 'no baselines';
    if (modelled === 0) return 'no model';
    return signals === 0 ? 'no signal' : undefined;
  };
  const isPair = (i: number, j: number): boolean => {
    const b = i >= j ? baselineIndex(i, j) : baselineIndex(j, i);
    return weights[b] > 0 && !isZero(model, b);
  };
  return dropStations(stations, weights, reasonAgainst, isPair);
}

/** All good stations start equal and real, with the amplitude that the brightness of data and model suggests. */
function firstGuess(batch: SolveBatch, solve: number): void {
  const { stations, data, model, weights, gains } = batch;
  const baselines = weights.length / batch.solves;
  let product = 0;
  let power = 0;
  const alive = new Uint8Array(stations);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = solve * baselines + baselineIndex(i, j);
      if (weights[b] === 0) continue;
      alive[i] = alive[j] = 1;
      const modelPower = model[2 * b] ** 2 + model[2 * b + 1] ** 2;
      product += weights[b] * Math.sqrt((data[2 * b] ** 2 + data[2 * b + 1] ** 2) * modelPower);
      power += weights[b] * modelPower;
    }
  }
  const size = Math.sqrt(product / power);
  for (let s = 0; s < stations; s++) gains[2 * (solve * stations + s)] = alive[s] === 1 ? size : 0;
}
