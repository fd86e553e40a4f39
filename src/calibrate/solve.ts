/** Around the kernel: lets a backend iterate on the data, then fixes the phase and reports the quality. */
import { baselineIndex, gainsCA, type GainsCA } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { productCount } from '../core/product-counts.js';
import { fillBatch, solveName, type CalibrationInput } from './batch.js';
import type { LeftOut } from './left-out.js';
import { DEFAULT_TOLERANCE, type CalibrationPlan, type SolveKernel } from './plan.js';

export interface Solution {
  readonly channel: number;
  readonly polarisation: number;
  readonly iterations: number;
  readonly converged: boolean;
  /** ‖g − g_before‖ / ‖g‖ of the last iteration. */
  readonly lastChange: number;
  /** Weighted rms of |V − g M g*| over that of |V|: 0 is perfect, 1 explains nothing; NaN without data. */
  readonly residual: number;
  readonly leftOut: readonly LeftOut[];
}

export interface Calibration {
  /** NaN where not solved, so that no unknown gain is used. */
  readonly gains: GainsCA;
  /** Of the same shape: the leakage of each input from the other polarisation. Only full polarisation solves it. */
  readonly leakage?: GainsCA;
  /** solved : [c][a], 1 where the gain is known. */
  readonly solved: Uint8Array;
  /** One for each channel and polarisation, k = c·P + p. */
  readonly solutions: readonly Solution[];
  /** The station whose gains are real and positive. */
  readonly referenceStation: number;
}

export async function solveCalibration(
  plan: CalibrationPlan,
  kernel: SolveKernel,
  input: CalibrationInput,
): Promise<Calibration> {
  const { stations, polarisations, channels } = plan;
  const { batch, withData, leftOut } = fillBatch(plan, input);
  const referenceStation = chooseReference(plan, leftOut);
  await kernel(batch);

  const gains = gainsCA(
    new Float64Array(2 * channels * stations * polarisations).fill(Number.NaN),
    channels,
    stations * polarisations,
  );
  const solved = new Uint8Array(channels * stations * polarisations);
  for (const [at, solve] of withData.entries()) {
    const found = batch.gains.subarray(2 * at * stations, 2 * (at + 1) * stations);
    turnToReference(found, referenceStation, solveName(plan, solve));
    const missing = new Set(leftOut[solve].map(({ station }) => station));
    for (let s = 0; s < stations; s++) {
      if (missing.has(s)) continue;
      const a = (Math.floor(solve / polarisations) * stations + s) * polarisations + (solve % polarisations);
      gains[2 * a] = found[2 * s];
      gains[2 * a + 1] = found[2 * s + 1];
      solved[a] = 1;
    }
  }
  const residuals = residualsOf(plan, input, { gains, solved });
  const places = new Map(withData.map((solve, at) => [solve, at]));
  const solutions = leftOut.map((list, solve) => {
    const at = places.get(solve);
    return describeSolve(plan, solve, {
      iterations: at === undefined ? 0 : batch.iterationsRun[at],
      lastChange: at === undefined ? NaN : batch.lastChange[at],
      residual: residuals[solve],
      leftOut: list,
    });
  });
  return { gains, solved, solutions, referenceStation };
}

export const describeSolve = (
  { polarisations, iterations }: CalibrationPlan,
  solve: number,
  found: Pick<Solution, 'iterations' | 'lastChange' | 'residual' | 'leftOut'>,
): Solution => ({
  channel: Math.floor(solve / polarisations),
  polarisation: solve % polarisations,
  converged: found.lastChange < (iterations.tolerance ?? DEFAULT_TOLERANCE),
  ...found,
});

/** `leftOut` of every solve; those that leave out all stations had no data and are ignored. */
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

/** Multiplies all gains by one phase, which visibilities do not constrain, so that the reference's is real. */
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

/**
 * Residuals that gains leave in the data of each solve k = c·P + p, whether solved here or shaped afterwards; NaN without
 * data.
 */
export function residualsOf(
  { stations, polarisations, channels, baselines, usedBaselines }: CalibrationPlan,
  input: CalibrationInput,
  { gains, solved }: Pick<Calibration, 'gains' | 'solved'>,
): Float64Array {
  const { visibilities, model, flaggedInputs } = input;
  const counted = { ...input, polarisations };
  const residuals = new Float64Array(channels * polarisations);
  for (let k = 0; k < residuals.length; k++) {
    const [c, p] = [Math.floor(k / polarisations), k % polarisations];
    const first = c * stations * polarisations + p;
    const isUsed = (s: number): boolean =>
      flaggedInputs[s * polarisations + p] === 0 && solved[first + s * polarisations] === 1;
    let [missed, total] = [0, 0];
    for (let i = 0; i < stations; i++) {
      if (!isUsed(i)) continue;
      for (let j = 0; j <= i; j++) {
        const cell = c * baselines + baselineIndex(i, j);
        const count = productCount(counted, cell, p, p);
        if (usedBaselines[baselineIndex(i, j)] === 0 || !(count > 0) || !isUsed(j)) continue;
        const [atI, atJ] = [2 * (first + i * polarisations), 2 * (first + j * polarisations)];
        const pairRe = gains[atI] * gains[atJ] + gains[atI + 1] * gains[atJ + 1];
        const pairIm = gains[atI + 1] * gains[atJ] - gains[atI] * gains[atJ + 1];
        const value = 2 * ((cell * polarisations + p) * polarisations + p);
        const [re, im] = [visibilities[value] / count, visibilities[value + 1] / count];
        const at = 2 * (cell * polarisations + p);
        const leftRe = re - (pairRe * model[at] - pairIm * model[at + 1]);
        const leftIm = im - (pairRe * model[at + 1] + pairIm * model[at]);
        missed += count * (leftRe * leftRe + leftIm * leftIm);
        total += count * (re * re + im * im);
      }
    }
    residuals[k] = Math.sqrt(missed / total);
  }
  return residuals;
}

/** Solves that had data and did not converge. */
export const unconverged = ({ solutions }: Pick<Calibration, 'solutions'>): readonly Solution[] =>
  solutions.filter(({ converged, residual }) => !converged && !Number.isNaN(residual));

/** The same calibration with every gain of those solves unknown, so that they are not used. */
export function leaveOutUnconverged<Found extends Calibration>(calibration: Found): Found {
  const given = unconverged(calibration);
  if (given.length === 0) return calibration;
  const { solutions } = calibration;
  const polarisations = 1 + solutions.reduce((most, { polarisation }) => Math.max(most, polarisation), 0);
  const channels = solutions.length / polarisations;
  const inputs = calibration.solved.length / channels;
  const gains = gainsCA(calibration.gains.slice(), channels, inputs);
  const solved = calibration.solved.slice();
  for (const { channel, polarisation } of given) {
    for (let a = polarisation; a < inputs; a += polarisations) {
      const at = channel * inputs + a;
      gains.fill(Number.NaN, 2 * at, 2 * at + 2);
      solved[at] = 0;
    }
  }
  return { ...calibration, gains, solved };
}
