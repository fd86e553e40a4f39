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
import { fillSolves, type CalibrationInput } from '../batch.js';
import type { CrossHanded, PolarisationFrame } from '../cross-hand.js';
import type { CalibrationPlan, SolveBatch } from '../plan.js';
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

function fillFull(plan: CalibrationPlan, input: FullInput) {
  const { baselines, channels } = plan;
  visibilitiesCBPP(input.visibilities, channels, baselines, 2);
  visibilitiesCBPP(input.model, channels, baselines, 2);
  countsCB(input.counts, channels, baselines);
  const { flaggedInputs } = input;
  const counted = { ...input, polarisations: 2 } as const;
  const ofProduct = (cell: number, n: number): number =>
    productCount(counted, cell, Math.floor(n / 2), n % 2);
  const filled = fillSolves(plan, {
    solves: channels,
    numbers: 8,
    nameOf: (c) => `calibrate, channel ${c}`,
    isFlagged: (_c, s) => flaggedInputs[2 * s] + flaggedInputs[2 * s + 1] > 0,
    // A matrix needs all four products of a pair: its weight is the least of theirs.
    countOf: (c, b) => {
      const cell = c * baselines + b;
      return input.productCounts
        ? Math.min(...[0, 1, 2, 3].map((n) => ofProduct(cell, n)))
        : input.counts[cell];
    },
    copy: (c, b, { data, model }, to) => {
      const from = c * baselines + b;
      for (let n = 0; n < 8; n++) {
        data[8 * to + n] = input.visibilities[8 * from + n] / ofProduct(from, Math.floor(n / 2));
        model[8 * to + n] = input.model[8 * from + n];
      }
    },
    openOf: (c, batch, at) => {
      refuseOnePolarisation(batch, at, `calibrate, channel ${c}`);
      return undetermined(`calibrate, channel ${c}`, formOf(batch, at), usedLoops(batch, at));
    },
  });
  return { ...filled, batch: { ...filled.batch, ...commonOutputs(filled.batch.solves) } };
}

/** Of pairs that have data and a model. */
function usedLoops({ stations, solves, model, weights }: SolveBatch, at: number): Loops {
  const first = (at * weights.length) / solves;
  const isLit = (b: number): boolean => model.subarray(8 * b, 8 * b + 8).some((value) => value !== 0);
  return loopsOf(stations, (b) => weights[first + b] > 0 && isLit(first + b));
}

/** A completely polarised sky excites only one combination of X and Y: the other is undetermined. */
function refuseOnePolarisation({ model, weights, solves }: SolveBatch, at: number, where: string): void {
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
