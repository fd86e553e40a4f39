/**
 * Around the kernel: averages and checks the data, leaves out what cannot be solved, lets a backend iterate,
 * then fixes the phase and says how well it went.
 */
import { baselineIndex, countsCB, gainsCA, modelCBP, visibilitiesCBPP } from '../core/axes.js';
import type { CountsCB, GainsCA, ModelCBP, VisibilitiesCBPP } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { DEFAULT_TOLERANCE, type CalibrationPlan, type SolveBatch, type SolveKernel } from './plan.js';

/** An Integration (core/blocks) and the model at its middle. */
export interface CalibrationInput {
  /** Sums over samples; divided by counts here. */
  readonly visibilities: VisibilitiesCBPP;
  /** Also the weights: a correlation of n samples has 1/n of the variance. 0 where nothing was recorded. */
  readonly counts: CountsCB;
  /** flaggedInputs : [a], 1 for an input to leave out. */
  readonly flaggedInputs: Uint8Array;
  readonly model: ModelCBP;
}

export type LeftOutReason = 'flagged' | 'no baselines' | 'no model' | 'no signal';
export interface LeftOut {
  readonly station: number;
  readonly reason: LeftOutReason;
}

export interface Solution {
  readonly channel: number;
  readonly polarisation: number;
  readonly iterations: number;
  readonly converged: boolean;
  /** ‖g − g_before‖ / ‖g‖ of the last iteration. */
  readonly lastChange: number;
  /** Weighted rms of |V − g M g*| over that of |V|: 0 is perfect, 1 explains nothing; NaN where there was no data. */
  readonly residual: number;
  readonly leftOut: readonly LeftOut[];
}

export interface Calibration {
  /** NaN where not solved: a gain nobody knows must not pass for one. */
  readonly gains: GainsCA;
  /** solved : [c][a], 1 where the gain is known. */
  readonly solved: Uint8Array;
  /** One for each channel and polarisation, k = c·P + p. */
  readonly solutions: readonly Solution[];
  /** The station whose gains are real and positive. */
  readonly referenceStation: number;
}

const polarisationName = (p: number): string => (p === 0 ? 'X' : 'Y');
export const solveName = (plan: CalibrationPlan, solve: number): string => {
  const channel = Math.floor(solve / plan.polarisations);
  return `calibrate, channel ${channel}, polarisation ${polarisationName(solve % plan.polarisations)}`;
};

export async function solveCalibration(
  plan: CalibrationPlan,
  kernel: SolveKernel,
  input: CalibrationInput,
): Promise<Calibration> {
  checkShapes(plan, input);
  const { stations, polarisations, channels } = plan;
  // Whole channels are flagged in many files: those without data are left unsolved, and the others are not.
  const withData = Array.from({ length: plan.solves }, (_, solve) => solve).filter((solve) =>
    hasData(plan, input, solve),
  );
  const solves = withData.length;
  if (solves === 0) {
    refuse(
      'calibrate',
      'no baseline has samples: all are flagged, missing or too short',
      'choose another integration',
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
  /** Of every solve of the plan. */
  const leftOut = Array.from({ length: plan.solves }, (_, solve) => allLeftOut(plan, input, solve));
  for (const [at, solve] of withData.entries()) {
    fillSolve(plan, input, batch, { solve, at });
    leftOut[solve] = dropUnsolvable(plan, input, batch, { solve, at });
    firstGuess(batch, at);
  }
  const referenceStation = chooseReference(plan, leftOut);
  await kernel(batch);

  const gains = gainsCA(
    new Float64Array(2 * channels * stations * polarisations).fill(Number.NaN),
    channels,
    stations * polarisations,
  );
  const solved = new Uint8Array(channels * stations * polarisations);
  const solutions = leftOut.map((list, solve) =>
    describeSolve(plan, solve, { iterations: 0, lastChange: NaN, residual: NaN, leftOut: list }),
  );
  for (const [at, solve] of withData.entries()) {
    const found = batch.gains.subarray(2 * at * stations, 2 * (at + 1) * stations);
    turnToReference(found, referenceStation, solveName(plan, solve));
    const channel = Math.floor(solve / polarisations);
    const polarisation = solve % polarisations;
    const missing = new Set(leftOut[solve].map(({ station }) => station));
    for (let s = 0; s < stations; s++) {
      if (missing.has(s)) continue;
      const a = (channel * stations + s) * polarisations + polarisation;
      gains[2 * a] = found[2 * s];
      gains[2 * a + 1] = found[2 * s + 1];
      solved[a] = 1;
    }
    solutions[solve] = describeSolve(plan, solve, {
      iterations: batch.iterationsRun[at],
      lastChange: batch.lastChange[at],
      residual: residualOf(batch, at),
      leftOut: leftOut[solve],
    });
  }
  return { gains, solved, solutions, referenceStation };
}

export const describeSolve = (
  { polarisations, iterations }: CalibrationPlan,
  solve: number,
  found: Pick<Solution, 'iterations' | 'lastChange' | 'residual' | 'leftOut'>,
): Solution => ({
  channel: Math.floor(solve / polarisations),
  polarisation: solve % polarisations,
  converged: found.lastChange < (iterations.kind === 'until' ? iterations.tolerance : DEFAULT_TOLERANCE),
  ...found,
});

function checkShapes(plan: CalibrationPlan, input: CalibrationInput): void {
  visibilitiesCBPP(input.visibilities, plan.channels, plan.baselines, plan.polarisations);
  countsCB(input.counts, plan.channels, plan.baselines);
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
    'flag one of the two stations, or mend what wrote it',
  );
export const refuseDarkModel = (where: string): never =>
  refuse(where, 'the model is zero on every baseline', 'give a model with a source above the horizon');
export const refuseTooFew = (where: string, good: number, stations: number): never =>
  refuse(
    where,
    `${good} of ${stations} stations have data and a model, and it takes three to solve for gains`,
    'flag fewer inputs, keep shorter baselines, or leave this channel out',
  );

/** A solve of the plan, k = c·P + p, and its place in the batch, which holds only those that have data. */
interface PlacedSolve {
  readonly solve: number;
  readonly at: number;
}

function hasData(plan: CalibrationPlan, input: CalibrationInput, solve: number): boolean {
  const { stations, polarisations, baselines, usedBaselines } = plan;
  const first = Math.floor(solve / polarisations) * baselines;
  const flagged = (s: number): boolean =>
    input.flaggedInputs[s * polarisations + (solve % polarisations)] > 0;
  for (let i = 0; i < stations; i++) {
    if (flagged(i)) continue;
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      // Counts below 0 and NaN are refused when they are carried over.
      if (usedBaselines[b] === 1 && input.counts[first + b] !== 0 && !flagged(j)) return true;
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

/** Averages the sums and carries data, model and weights of one channel and polarisation into the batch. */
function fillSolve(
  plan: CalibrationPlan,
  input: CalibrationInput,
  batch: SolveBatch,
  { solve, at }: PlacedSolve,
): void {
  const { stations, polarisations, baselines } = plan;
  const channel = Math.floor(solve / polarisations);
  const p = solve % polarisations;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      const from = channel * baselines + b;
      const count = input.counts[from];
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

/** Takes out stations that nothing determines, again and again until those that stay determine each other. */
function dropUnsolvable(
  plan: CalibrationPlan,
  input: CalibrationInput,
  batch: SolveBatch,
  { solve, at }: PlacedSolve,
): LeftOut[] {
  const { stations, polarisations, baselines } = plan;
  const where = solveName(plan, solve);
  const weights = batch.weights.subarray(at * baselines, (at + 1) * baselines);
  const data = batch.data.subarray(2 * at * baselines, 2 * (at + 1) * baselines);
  const model = batch.model.subarray(2 * at * baselines, 2 * (at + 1) * baselines);
  const isZero = (values: Float64Array, b: number): boolean => values[2 * b] === 0 && values[2 * b + 1] === 0;
  if (weights.some((w) => w > 0) && weights.every((w, b) => w === 0 || isZero(model, b))) {
    refuseDarkModel(where);
  }
  const leftOut = new Map<number, LeftOutReason>();
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
  for (let changed = true; changed;) {
    changed = false;
    for (let i = 0; i < stations; i++) {
      const reason = leftOut.has(i) ? undefined : reasonAgainst(i);
      if (reason === undefined) continue;
      leftOut.set(i, reason);
      for (let j = 0; j < stations; j++) weights[i >= j ? baselineIndex(i, j) : baselineIndex(j, i)] = 0;
      changed = true;
    }
  }
  const good = stations - leftOut.size;
  if (good < 3) refuseTooFew(where, good, stations);
  return [...leftOut].map(([station, reason]) => ({ station, reason })).sort((a, b) => a.station - b.station);
}

/** All good stations start alike, real, at the size that the data's and the model's brightness suggest. */
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

/** `leftOut` of every solve; those that leave out all stations had no data and have no say. */
export function chooseReference(plan: CalibrationPlan, leftOut: readonly (readonly LeftOut[])[]): number {
  const wanted = plan.referenceStation;
  const missingIn = (station: number): number =>
    leftOut.findIndex((list) => list.length < plan.stations && list.some((one) => one.station === station));
  let common = 0;
  while (common < plan.stations && missingIn(common) >= 0) common++;
  const advice =
    common < plan.stations
      ? `take station ${common}, which every solve can use`
      : 'solve fewer channels at once, or flag stations that are missing in some of them';
  if (wanted !== undefined) {
    const solve = missingIn(wanted);
    if (solve < 0) return wanted;
    const reason = leftOut[solve].find(({ station }) => station === wanted)?.reason ?? 'flagged';
    refuse(solveName(plan, solve), `reference station ${wanted} is left out (${reason})`, advice);
  }
  if (common === plan.stations) {
    refuse('calibrate', 'no station is good in every channel and polarisation', advice);
  }
  return common;
}

/** Multiplies all gains by one phase, which no visibility can see, so that the reference's is real. */
function turnToReference(gains: Float64Array, reference: number, where: string): void {
  const size = Math.hypot(gains[2 * reference], gains[2 * reference + 1]);
  if (!(size > 0 && size < Infinity)) {
    refuse(where, `the gain of reference station ${reference} came out as ${size}`, 'take another station');
  }
  const cosine = gains[2 * reference] / size;
  const sine = -gains[2 * reference + 1] / size;
  for (let n = 0; n < gains.length; n += 2) {
    const re = gains[n];
    gains[n] = re * cosine - gains[n + 1] * sine;
    gains[n + 1] = re * sine + gains[n + 1] * cosine;
  }
  gains[2 * reference] = size;
  gains[2 * reference + 1] = 0;
}

function residualOf({ stations, solves, data, model, weights, gains }: SolveBatch, solve: number): number {
  const baselines = weights.length / solves;
  let missed = 0;
  let total = 0;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = solve * baselines + baselineIndex(i, j);
      if (weights[b] === 0) continue;
      const [atI, atJ] = [2 * (solve * stations + i), 2 * (solve * stations + j)];
      const pairRe = gains[atI] * gains[atJ] + gains[atI + 1] * gains[atJ + 1];
      const pairIm = gains[atI + 1] * gains[atJ] - gains[atI] * gains[atJ + 1];
      const re = data[2 * b] - (pairRe * model[2 * b] - pairIm * model[2 * b + 1]);
      const im = data[2 * b + 1] - (pairRe * model[2 * b + 1] + pairIm * model[2 * b]);
      missed += weights[b] * (re * re + im * im);
      total += weights[b] * (data[2 * b] ** 2 + data[2 * b + 1] ** 2);
    }
  }
  return Math.sqrt(missed / total);
}
