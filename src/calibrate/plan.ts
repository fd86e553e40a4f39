/**
 * The plan of a calibration: sizes, the baselines used, when to stop; and the layout in which a backend receives a
 * batch of independent solves.
 */
import { baselineCount, baselineIndex } from '../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';

/**
 * `fixed` always runs the same number of iterations, and counts as converged if the last change was below the
 * tolerance; `until` stops a solve at the first even iteration whose relative change ‖g − g_before‖ / ‖g‖ is below the
 * tolerance, and gives up after `most`.
 */
export type IterationRule =
  | { readonly kind: 'fixed'; readonly count: number; readonly tolerance?: number }
  | { readonly kind: 'until'; readonly tolerance: number; readonly most: number };

export interface CalibrationOptions {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  /** Default: until the gains change by less than 1e-8, at most 500 iterations. */
  readonly iterations?: IterationRule;
  /** The station whose gain is made real and positive. Default: the first station that is in every solve. */
  readonly referenceStation?: number;
  /** Autocorrelations contain the receivers' noise, which is in no model of the sky. Default: left out. */
  readonly autos?: 'leave-out' | 'include';
  /** Leaves out shorter baselines, which measure the diffuse sky that a model of points lacks. */
  readonly shortest?: { readonly stationsM: readonly Vector3[]; readonly minimumM: number };
}

export interface CalibrationPlan {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  readonly baselines: number;
  /** Independent solves: channels × polarisations, solve k = c·P + p. */
  readonly solves: number;
  readonly iterations: IterationRule;
  readonly referenceStation: number | undefined;
  /** usedBaselines : [b], 1 where the baseline may be used. */
  readonly usedBaselines: Uint8Array;
}

/**
 * What a backend's kernel receives: everything checked, averaged and finite, so that it only iterates.
 * All arrays hold one solve after the other: those of the plan, k = c·P + p, that have data.
 *
 *   data    : [k][b] complex float64   R_ij, averaged correlations, i ≥ j; the other triangle is its conjugate
 *   model   : [k][b] complex float64   M_ij likewise
 *   weights : [k][b] float64           w_ij ≥ 0; 0 leaves the pair out (flags, autos, left-out stations)
 *   gains   : [k][s] complex float64   in: the first guess, 0 for stations left out; out: the solution
 *
 * Minimising Σ w_ij |R_ij − g_i M_ij conj(g_j)|² for one station, the others held, gives
 *
 *   g_i = Σ_j A_ij g_j / Σ_j B_ij |g_j|²   with   A_ij = w_ij R_ij conj(M_ij),   B_ij = w_ij |M_ij|²
 *
 * summed over the whole row j ≠ i (A is Hermitian, B symmetric, so the lower triangle holds them). All
 * stations move at once from the previous gains; every even iteration (counted from 1) is averaged with the one
 * before it. A station whose denominator is 0 keeps its gain.
 */
export interface SolveBatch {
  readonly solves: number;
  readonly stations: number;
  readonly data: Float64Array;
  readonly model: Float64Array;
  readonly weights: Float64Array;
  readonly gains: Float64Array;
  readonly iterations: IterationRule;
  /** Out : [k], how many iterations ran. */
  readonly iterationsRun: Int32Array;
  /** Out : [k], the relative change of the last iteration, after averaging where it was even. */
  readonly lastChange: Float64Array;
}

/** The part a fast backend replaces. */
export type SolveKernel = (batch: SolveBatch) => Promise<void>;

/** The default. */
export const DEFAULT_TOLERANCE = 1e-8;
const DEFAULT_ITERATIONS: IterationRule = { kind: 'until', tolerance: DEFAULT_TOLERANCE, most: 500 };
const WHERE = 'calibrate';

/** Checks a calibration's settings; independent of the machine. */
export function planCalibration(options: CalibrationOptions): CalibrationPlan {
  const { polarisations } = options;
  // Two stations give one complex number for two complex gains: at least three are needed.
  if (options.stations < 3)
    refuse(
      WHERE,
      `${options.stations} station${options.stations === 1 ? ' is' : 's are'} too few`,
      'gains take at least three stations',
    );
  const stations = wholeNumber(WHERE, 'stations', options.stations, 3, 65_535);
  const channels = wholeNumber(WHERE, 'channels', options.channels, 1, 2 ** 20);
  const iterations = checkedRule(options.iterations ?? DEFAULT_ITERATIONS);
  const { referenceStation } = options;
  if (referenceStation !== undefined) {
    wholeNumber(WHERE, 'reference station', referenceStation, 0, stations - 1);
  }
  return {
    stations,
    polarisations,
    channels,
    baselines: baselineCount(stations),
    solves: channels * polarisations,
    iterations,
    referenceStation,
    usedBaselines: chooseBaselines(stations, options),
  };
}

function checkedRule(rule: IterationRule): IterationRule {
  if (rule.kind === 'fixed') {
    wholeNumber(WHERE, 'iteration count', rule.count, 1, 1_000_000);
  } else {
    wholeNumber(WHERE, 'most iterations', rule.most, 2, 1_000_000);
    realNumber(WHERE, 'tolerance', rule.tolerance, 1e-15, 1);
  }
  return rule;
}

function chooseBaselines(stations: number, { autos, shortest }: CalibrationOptions): Uint8Array {
  if (shortest && shortest.stationsM.length !== stations) {
    refuse(
      WHERE,
      `${shortest.stationsM.length} positions for ${stations} stations`,
      'give each station its position',
    );
  }
  const minimumM = shortest ? realNumber(WHERE, 'shortest baseline', shortest.minimumM, 0, 1e9) : 0;
  const used = new Uint8Array(baselineCount(stations));
  let longestM = 0;
  for (let i = 0; i < stations; i++) {
    used[baselineIndex(i, i)] = autos === 'include' ? 1 : 0;
    for (let j = 0; j < i; j++) {
      const a = shortest?.stationsM[i];
      const b = shortest?.stationsM[j];
      const lengthM = a && b ? Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) : Infinity;
      used[baselineIndex(i, j)] = lengthM >= minimumM ? 1 : 0;
      longestM = Math.max(longestM, lengthM);
    }
  }
  if (longestM < minimumM)
    refuse(
      'min-baseline',
      `no baseline is as long as ${minimumM} m`,
      `give less than ${longestM.toFixed(1)} m, the longest`,
    );
  return used;
}
