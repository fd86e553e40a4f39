/**
 * What all stations may share: G_i → G_i·U fits the data as well as G_i wherever U M_ij Uᴴ = M_ij for every pair. One
 * such U is a phase. An unpolarised model, or a single source however polarised, leaves three rotations of the
 * polarisation open too; two sources of different Stokes vectors leave one; three leave none. Here such U are found, as
 * small steps 1 + u that change the fit least: those that change the fit must be at its minimum, and the others are
 * counted.
 */
import { baselineIndex } from '../../core/axes.js';
import { eigenSymmetric, type Eigen } from '../../core/eigen.js';
import { timesMatrix } from '../../core/jones.js';
import { dotOf } from './accelerate.js';
import type { FullBatch } from './plan.js';

interface CommonModes {
  /** [mode][8]: u as eight numbers, rows first, of size 1; without the overall phase. */
  readonly open: readonly Float64Array[];
  /** The largest error of a known rotation, in the direction of polarisation; 0 where none is known. */
  readonly errorRad: number;
}

/** A rotation with a larger error is open. */
export const MOST_ERROR_RAD = 0.1;
/** Relative to the stiffest mode: below it a mode is rounding. */
export const LEAST_CURVATURE = 1e-7;
const U = 8;

/** i·1 of size 1: the overall phase, which visibilities do not measure. */
const PHASE = Float64Array.of(0, Math.SQRT1_2, 0, 0, 0, 0, 0, Math.SQRT1_2);

/** Normal equations of Σ w ‖V − G_i (1 + u) M (1 + u)ᴴ G_jᴴ‖² in the eight numbers of u. */
export interface CommonNormal {
  /** normal : [8][8] */
  readonly normal: Float64Array;
  /** single : [8][8], for single stations' steps: G_i (1 + u) on either side separately. */
  readonly single: Float64Array;
  readonly right: Float64Array;
  /** Variance of one number of the data, at unit weight. */
  readonly variance: number;
}

/**
 * The correction of single stations' steps. Such a step moves the stations in common as well, by T⁻¹·right of its own
 * normal equations T, too far along some modes and hardly at all along others; `amends`, times right, is the best
 * common step less that one, and along undetermined modes zero less that one.
 */
export interface CommonFit {
  /** amends : [8][8]. */
  readonly amends: Float64Array;
  /** The best common step as 1 + u, and the size of u. */
  readonly turn: Float64Array;
  readonly size: number;
}

export function fitCommon(of: CommonNormal): CommonFit {
  const { values, vectors, errors } = modesOf(of);
  const amends = new Float64Array(U * U);
  const add = (vector: Float64Array, factor: number): void => {
    for (let m = 0; m < U; m++)
      for (let k = 0; k < U; k++) amends[U * m + k] += factor * vector[m] * vector[k];
  };
  const u = new Float64Array(U);
  values.forEach((value, m) => {
    if (errors[m] === Infinity) return;
    // Along a mode in the noise the linear fit is unreliable: its step is shortened by its uncertainty.
    const stiff = value + (2 * of.variance) / MOST_ERROR_RAD ** 2;
    add(vectors[m], 1 / stiff);
    const along = dotOf(vectors[m], of.right) / stiff;
    for (let k = 0; k < U; k++) u[k] += along * vectors[m][k];
  });
  const single = eigenSymmetric(of.single, U);
  const stiffest = Math.max(...single.values);
  single.values.forEach((value, m) => {
    if (value > LEAST_CURVATURE * stiffest) add(single.vectors[m], -1 / value);
  });
  return { amends, turn: u.map((value, k) => value + (k === 0 || k === 6 ? 1 : 0)), size: Math.hypot(...u) };
}

/** G′ + G u of every station, with u = `amends` times right. */
export function amend(
  before: Float64Array,
  gains: Float64Array,
  { amends }: CommonFit,
  right: Float64Array,
): { readonly size: number } {
  const u = new Float64Array(U);
  for (let m = 0; m < U; m++) u[m] = dotOf(amends.subarray(U * m, U * (m + 1)), right);
  const size = Math.hypot(...u);
  const shorter = Math.min(1, LONGEST_AMENDS / size);
  for (let at = 0; at < gains.length; at += 8)
    timesMatrix(before.subarray(at, at + 8), u).forEach((value, n) => (gains[at + n] += shorter * value));
  return { size };
}

/** The linear fit is unreliable beyond this. */
export const LONGEST_AMENDS = 0.3;
/**
 * The correction is fitted where the change falls below each of these; again after such a long common step, since the
 * last fit was at other gains; and, unless the change was below LATE_BELOW then, after so many iterations and at the
 * end.
 */
export const FIT_BELOW = [0.1, 1e-3] as const;
export const LATE_BELOW = 1e-2;
export const FIT_AGAIN_AFTER = 8;
export const FIT_AGAIN_ABOVE = 0.05;
/** In units of the tolerance: if the remaining common step is longer, iterations continue. */
export const MOST_TOLERANCES = 10;

/** What the data leave open after a solve. */
export function commonModes({ commonNormal, commonVariance }: FullBatch, solve: number): CommonModes {
  const { vectors, errors } = modesOf({
    normal: commonNormal.subarray(U * U * solve, U * U * (solve + 1)),
    variance: commonVariance[solve],
  });
  const known = errors.filter((error) => error <= MOST_ERROR_RAD);
  return {
    open: withoutPhase(vectors.filter((_, m) => !(errors[m] <= MOST_ERROR_RAD))),
    errorRad: known.reduce((most, error) => Math.max(most, error), 0),
  };
}

/** Eigenvectors, and the uncertainty by noise along each. */
function modesOf({ normal, variance }: Pick<CommonNormal, 'normal' | 'variance'>): Eigen & {
  readonly errors: readonly number[];
} {
  const { values, vectors } = eigenSymmetric(normal, U);
  const stiffest = Math.max(...values);
  const errors = values.map((value) =>
    value > LEAST_CURVATURE * stiffest ? Math.sqrt((2 * variance) / value) : Infinity,
  );
  return { values, vectors, errors };
}

/** G_i·U of every station. */
export function turnAll({ gains, stations }: FullBatch, solve: number, common: Float64Array): void {
  for (let at = 8 * solve * stations; at < 8 * (solve + 1) * stations; at += 8)
    gains.set(timesMatrix(gains.subarray(at, at + 8), common), at);
}

/** At these gains : [s][2][2] of one solve. */
export function commonNormalOf(
  { stations, solves, data, model, weights }: Omit<FullBatch, 'gains'>,
  solve: number,
  gains: Float64Array,
): CommonNormal {
  const baselines = weights.length / solves;
  const normal = new Float64Array(U * U);
  const right = new Float64Array(U);
  const single = new Float64Array(U * U);
  const slopes = new Float64Array(U * 8);
  const firsts = new Float64Array(U * 8);
  const missed = new Float64Array(8);
  let [squares, numbers] = [0, 0];
  const alive = new Uint8Array(stations);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = solve * baselines + baselineIndex(i, j);
      if (weights[b] === 0) continue;
      // A step uses a station's own pair from one side only: this equals half its weight from both.
      const weight = i === j ? weights[b] / 2 : weights[b];
      alive[i] = alive[j] = 1;
      slopesOf(gains, 8 * i, 8 * j, model, 8 * b, slopes, firsts);
      // The model's contribution: Σ over the diagonal of u = 1/2, of which both sides have one.
      for (let n = 0; n < 8; n++) {
        missed[n] = data[8 * b + n] - (slopes[n] + slopes[6 * 8 + n]) / 2;
        squares += weight * missed[n] ** 2;
      }
      numbers += i === j ? 4 : 8;
      for (let m = 0; m < U; m++) {
        for (let n = 0; n < 8; n++) right[m] += weight * slopes[8 * m + n] * missed[n];
        for (let k = 0; k <= m; k++) {
          let [sum, alone] = [0, 0];
          for (let n = 0; n < 8; n++) {
            const [x, y] = [slopes[8 * m + n], slopes[8 * k + n]];
            const [xFirst, yFirst] = [firsts[8 * m + n], firsts[8 * k + n]];
            sum += x * y;
            alone += xFirst * yFirst + (x - xFirst) * (y - yFirst);
          }
          normal[m * U + k] += weight * sum;
          single[m * U + k] += weight * alone;
        }
      }
    }
  }
  for (const matrix of [normal, single])
    for (let m = 0; m < U; m++) for (let k = 0; k < m; k++) matrix[k * U + m] = matrix[m * U + k];
  return {
    normal,
    single,
    right,
    variance: squares / Math.max(1, numbers - 8 * alive.reduce((sum, one) => sum + one, 0) + 1),
  };
}

/** out = a·b, or a·bᴴ: numbers at their places in larger arrays, to avoid allocations here. */
function multiply(
  a: Float64Array,
  atA: number,
  b: Float64Array,
  atB: number,
  side: 'plain' | 'adjoint',
  out: Float64Array,
): void {
  const [row, column, sign] = side === 'plain' ? STRIDES.plain : STRIDES.adjoint;
  for (let p = 0; p < 2; p++) {
    for (let q = 0; q < 2; q++) {
      let re = 0;
      let im = 0;
      for (let c = 0; c < 2; c++) {
        const x = a[atA + 4 * p + 2 * c];
        const y = a[atA + 4 * p + 2 * c + 1];
        const at = atB + row * c + column * q;
        const u = b[at];
        const v = sign * b[at + 1];
        re += x * u - y * v;
        im += x * v + y * u;
      }
      out[4 * p + 2 * q] = re;
      out[4 * p + 2 * q + 1] = im;
    }
  }
}
const STRIDES = { plain: [4, 2, 1], adjoint: [2, 4, -1] } as const;
const right2 = new Float64Array(8);
const left2 = new Float64Array(8);

/** slopes : [number of u][8]. By u_ab: G_i e_ab M G_jᴴ + G_i M e_ba G_jᴴ; by its imaginary part i times their difference. firsts: the first of either alone. */
function slopesOf(
  gains: Float64Array,
  own: number,
  other: number,
  model: Float64Array,
  m: number,
  slopes: Float64Array,
  firsts: Float64Array,
): void {
  multiply(model, m, gains, other, 'adjoint', right2);
  multiply(gains, own, model, m, 'plain', left2);
  for (let a = 0; a < 2; a++) {
    for (let b = 0; b < 2; b++) {
      for (let p = 0; p < 2; p++) {
        const oRe = gains[own + 4 * p + 2 * a];
        const oIm = gains[own + 4 * p + 2 * a + 1];
        const lRe = left2[4 * p + 2 * b];
        const lIm = left2[4 * p + 2 * b + 1];
        for (let q = 0; q < 2; q++) {
          // G_i,pa (M G_jᴴ)_bq
          const rRe = right2[4 * b + 2 * q];
          const rIm = right2[4 * b + 2 * q + 1];
          const firstRe = oRe * rRe - oIm * rIm;
          const firstIm = oRe * rIm + oIm * rRe;
          // (G_i M)_pb conj(G_j,qa)
          const gRe = gains[other + 4 * q + 2 * a];
          const gIm = gains[other + 4 * q + 2 * a + 1];
          const secondRe = lRe * gRe + lIm * gIm;
          const secondIm = lIm * gRe - lRe * gIm;
          const at = 8 * (4 * a + 2 * b) + 4 * p + 2 * q;
          slopes[at] = firstRe + secondRe;
          slopes[at + 1] = firstIm + secondIm;
          slopes[at + 8] = secondIm - firstIm;
          slopes[at + 9] = firstRe - secondRe;
          firsts[at] = firstRe;
          firsts[at + 1] = firstIm;
          firsts[at + 8] = -firstIm;
          firsts[at + 9] = firstRe;
        }
      }
    }
  }
}

/** A basis of their part orthogonal to the overall phase. */
function withoutPhase(vectors: readonly Float64Array[]): Float64Array[] {
  const kept: Float64Array[] = [PHASE];
  for (const vector of vectors) {
    const rest = vector.slice();
    for (const one of kept) {
      const along = dotOf(one, rest);
      for (let k = 0; k < U; k++) rest[k] -= along * one[k];
    }
    const size = Math.hypot(...rest);
    if (size > 1e-3) kept.push(rest.map((value) => value / size));
  }
  return kept.slice(1);
}
