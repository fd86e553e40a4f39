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

/** What solves take from an integration: for gains of inputs here, for matrices of stations in full/solve.ts. */
export interface SolveKind {
  /** Of all channels, with data or without. */
  readonly solves: number;
  /** Of a pair in data and in model, and of a station. */
  readonly numbers: 2 | 8;
  nameOf(solve: number): string;
  isFlagged(solve: number, station: number): boolean;
  /** A pair's samples, which are its weight. */
  countOf(solve: number, baseline: number): number;
  /** A pair's averaged data and its model, to a place of the batch. */
  copy(solve: number, baseline: number, batch: SolveBatch, to: number): void;
  /** The refusal of a filled solve whose pairs leave the gains of its stations open. */
  openOf(solve: number, batch: SolveBatch, at: number, isOpen: boolean, good: number): Refuse | undefined;
}
type Refuse = () => never;

interface FilledBatch {
  readonly batch: SolveBatch;
  /** Solves in the order of the batch, which has only those with data. */
  readonly withData: readonly number[];
  /** For every solve. */
  readonly leftOut: readonly (readonly LeftOut[])[];
}

/** Solves k = c·P + p of the gains of inputs. */
export function fillBatch(plan: CalibrationPlan, input: CalibrationInput): FilledBatch {
  checkShapes(plan, input);
  const { polarisations, baselines, solves } = plan;
  const counted = { ...input, polarisations };
  const cellOf = (solve: number, b: number): number => Math.floor(solve / polarisations) * baselines + b;
  return fillSolves(plan, {
    solves,
    numbers: 2,
    nameOf: (solve) => solveName(plan, solve),
    isFlagged: (solve, s) => input.flaggedInputs[s * polarisations + (solve % polarisations)] > 0,
    countOf: (solve, b) =>
      productCount(counted, cellOf(solve, b), solve % polarisations, solve % polarisations),
    copy: (solve, b, batch, to) => {
      const from = cellOf(solve, b);
      const p = solve % polarisations;
      const count = productCount(counted, from, p, p);
      const visibility = 2 * ((from * polarisations + p) * polarisations + p);
      for (let part = 0; part < 2; part++) {
        batch.data[2 * to + part] = input.visibilities[visibility + part] / count;
        batch.model[2 * to + part] = input.model[2 * (from * polarisations + p) + part];
      }
    },
    openOf: (solve, _batch, _at, isOpen, good) =>
      isOpen ? () => refuseOpen(solveName(plan, solve), good) : undefined,
  });
}

/** Gains of fewer are not determined. */
const LEAST_STATIONS = 3;

/**
 * Averages and checks the data. Whole channels are flagged in many files, or flags leave two stations of a channel: it
 * then has no gains, the others have. Where none can be solved the first one's refusal applies.
 */
export function fillSolves(plan: CalibrationPlan, kind: SolveKind): FilledBatch {
  const { stations, baselines } = plan;
  const { numbers } = kind;
  // Counts below 0 and NaN are refused when they are copied.
  const isUsed = (solve: number, i: number, j: number, count: number): boolean =>
    plan.usedBaselines[baselineIndex(i, j)] === 1 &&
    count !== 0 &&
    !kind.isFlagged(solve, i) &&
    !kind.isFlagged(solve, j);
  const candidates = Array.from({ length: kind.solves }, (_, solve) => solve).filter((solve) => {
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++)
        if (isUsed(solve, i, j, kind.countOf(solve, baselineIndex(i, j)))) return true;
    return false;
  });
  const solves = candidates.length;
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
    data: new Float64Array(numbers * solves * baselines),
    model: new Float64Array(numbers * solves * baselines),
    weights: new Float64Array(solves * baselines),
    gains: new Float64Array(numbers * solves * stations),
    iterations: plan.iterations,
    iterationsRun: new Int32Array(solves),
    lastChange: new Float64Array(solves).fill(Infinity),
  };
  const leftOut: (readonly LeftOut[])[] = Array.from({ length: kind.solves }, (_, solve) =>
    Array.from({ length: stations }, (_, station) => ({
      station,
      reason: kind.isFlagged(solve, station) ? 'flagged' : 'no baselines',
    })),
  );
  const fill = (solve: number, at: number): Refuse | undefined => {
    const where = kind.nameOf(solve);
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        const b = baselineIndex(i, j);
        const to = at * baselines + b;
        const count = kind.countOf(solve, b);
        if (!(count >= 0 && count < Infinity))
          refuse(where, `the sample count of stations ${i} and ${j} is ${count}`, 'counts are 0 or more');
        if (!isUsed(solve, i, j, count)) continue;
        kind.copy(solve, b, batch, to);
        checkPair(batch, numbers * to, numbers, where, i, j);
        batch.weights[to] = count;
      }
    }
    const { dropped, isOpen } = dropUnsolvable(kind, batch, solve, at);
    const good = stations - dropped.length;
    if (good < LEAST_STATIONS)
      return () =>
        refuse(
          where,
          `${good} of ${stations} stations have data and a model, and it takes three to solve for gains`,
          'flag fewer inputs, keep shorter baselines, or leave this channel out',
        );
    const open = kind.openOf(solve, batch, at, isOpen, good);
    leftOut[solve] = open ? openLeftOut(stations, dropped) : dropped;
    if (!open) firstGuess(batch, numbers, at);
    return open;
  };
  const withData: number[] = [];
  let refused: Refuse | undefined;
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
  return { batch: firstSolves(batch, withData.length), withData, leftOut };
}

function checkPair(
  { data, model }: SolveBatch,
  first: number,
  numbers: number,
  where: string,
  i: number,
  j: number,
): void {
  for (let n = first; n < first + numbers; n++)
    if (!Number.isFinite(data[n]) || !Number.isFinite(model[n]))
      refuse(
        where,
        `the ${Number.isFinite(data[n]) ? 'model' : 'visibility'} of stations ${i} and ${j} is not a finite number`,
        'flag one of the two stations, or correct what wrote it',
      );
}

function firstSolves(batch: SolveBatch, solves: number): SolveBatch {
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

/** Removes undetermined stations repeatedly, until the rest determine each other. */
function dropUnsolvable(
  kind: SolveKind,
  { stations, solves, data, model, weights: all }: SolveBatch,
  solve: number,
  at: number,
): Dropped {
  const { numbers } = kind;
  const baselines = all.length / solves;
  const weights = all.subarray(at * baselines, (at + 1) * baselines);
  const isZero = (values: Float64Array, b: number): boolean => {
    const first = numbers * (at * baselines + b);
    for (let n = first; n < first + numbers; n++) if (values[n] !== 0) return false;
    return true;
  };
  if (weights.every((w, b) => w === 0 || isZero(model, b)))
    refuse(
      kind.nameOf(solve),
      'the model is zero on every baseline',
      'give a model with a source above the horizon',
    );
  const pairOf = (i: number, j: number): number => (i >= j ? baselineIndex(i, j) : baselineIndex(j, i));
  const reasonAgainst = (i: number): LeftOutReason | undefined => {
    if (kind.isFlagged(solve, i)) return 'flagged';
    let [isPaired, hasModel, hasSignal] = [false, false, false];
    for (let j = 0; j < stations; j++) {
      const b = pairOf(i, j);
      if (i === j || weights[b] === 0) continue;
      isPaired = true;
      hasModel ||= !isZero(model, b);
      hasSignal ||= !isZero(data, b);
    }
    if (!isPaired) return 'no baselines';
    if (!hasModel) return 'no model';
    return hasSignal ? undefined : 'no signal';
  };
  // A station's own power fixes the size of a gain, not a matrix.
  const isPair = (i: number, j: number): boolean =>
    (numbers === 2 || i !== j) && weights[pairOf(i, j)] > 0 && !isZero(model, pairOf(i, j));
  return dropStations(stations, weights, reasonAgainst, isPair);
}

/**
 * All good stations start equal and real, without leakage, with the amplitude that the brightness of data and model
 * suggests.
 */
function firstGuess(
  { stations, solves, data, model, weights, gains }: SolveBatch,
  numbers: number,
  at: number,
): void {
  const baselines = weights.length / solves;
  let [product, power] = [0, 0];
  const alive = new Uint8Array(stations);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = at * baselines + baselineIndex(i, j);
      if (weights[b] === 0) continue;
      alive[i] = alive[j] = 1;
      let [ofData, ofModel] = [0, 0];
      for (let n = numbers * b; n < numbers * (b + 1); n++) {
        ofData += data[n] ** 2;
        ofModel += model[n] ** 2;
      }
      product += weights[b] * Math.sqrt(ofData * ofModel);
      power += weights[b] * ofModel;
    }
  }
  const size = Math.sqrt(product / power);
  for (let s = 0; s < stations; s++) {
    const station = numbers * (at * stations + s);
    // The diagonal of a matrix: its first and its last complex number.
    gains[station] = gains[station + numbers - 2] = alive[s] === 1 ? size : 0;
  }
}
