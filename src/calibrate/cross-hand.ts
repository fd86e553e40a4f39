/**
 * The phase between X and Y. Each polarisation's gains have their own phase reference, so that X and Y differ by one
 * angle ψ a channel that the parallel hands do not measure: the true Y gains are those found times e^(iψ), and an
 * unknown ψ mixes Stokes U and V (of circular feeds Q and U).
 */
import { gainsCA } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { productCount } from '../core/product-counts.js';
import type { Vector3 } from '../core/vector.js';
import type { CalibrationInput } from './batch.js';
import { coherencyOf } from './full/model.js';
import { attenuationOf, fillPhasors, pairResponse, type ModelComponent } from './model.js';
import type { Calibration } from './solve.js';

/** How ψ was found. */
export type CrossHandHow = 'unknown' | 'model' | 'v-zero' | 'given' | 'earlier';

export interface CrossHand {
  readonly how: CrossHandHow;
  /** phaseRad : [c], ψ; the gains of Y include it. NaN where unknown. */
  readonly phaseRad: Float64Array;
}

/**
 * `model`: by the cross hands of polarised sources in the model. `v-zero`: the model's sources have V = 0 and an
 * unknown U; the sign of the strongest is given. `given`: an angle for all channels.
 */
export type CrossHandRule =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'model' }
  | { readonly kind: 'v-zero'; readonly u: 'positive' | 'negative' }
  | { readonly kind: 'given'; readonly phaseRad: number };

interface CrossHandSky {
  readonly stationsM: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  readonly components: readonly ModelComponent[];
}

/** Rotations of the polarisation that the model of a full solve does not determine, for each channel. */
export interface PolarisationFrame {
  /** openRotations : [c], 0 where the model fixes I, Q, U and V; 3 where it has only I. */
  readonly openRotations: Uint8Array;
  /** errorRad : [c], error of the known rotations; NaN where there was no data. */
  readonly errorRad: Float64Array;
}

export interface CrossHanded extends Calibration {
  readonly crossHand: CrossHand;
  /** For full polarisation. */
  readonly frame?: PolarisationFrame;
  /** For each channel where it was fitted: the cross hands' signal over its own error, and over the model's. */
  readonly crossHandFit?: readonly CrossHandFit[];
}

export interface CrossHandFit {
  readonly channel: number;
  /** The cross hands' amplitude over its standard error. */
  readonly significance: number;
  /** That amplitude over the model's; 1 where the model is right, NaN where it has none. */
  readonly overModel: number;
}

/** Below it an angle would be noise. */
const LEAST_SIGNIFICANCE = 5;
/** A model whose polarised flux is further off does not describe this sky. */
const MOST_OFF_MODEL = 2;

/** Rotates the gains of Y by ψ where it can be found, and returns where. One polarisation has no cross hands. */
export function withCrossHand(
  calibration: Calibration,
  input: CalibrationInput,
  rule: CrossHandRule,
  sky: CrossHandSky,
): CrossHanded {
  const channels = sky.frequenciesHz.length;
  const unknown = new Float64Array(channels).fill(Number.NaN);
  switch (rule.kind) {
    case 'unknown':
      return { ...calibration, crossHand: { how: 'unknown', phaseRad: unknown } };
    case 'given':
      return withKnownCrossHand(calibration, { how: 'given', phaseRad: unknown.fill(rule.phaseRad) });
    case 'model':
    case 'v-zero': {
      const fits: CrossHandFit[] = [];
      for (let c = 0; c < channels; c++) {
        const found = solveChannel(calibration, input, rule, sky, c);
        if (!found) continue;
        fits.push({ channel: c, significance: found.significance, overModel: found.overModel });
        if (isBelievable(found)) unknown[c] = found.phaseRad;
      }
      const isKnown = unknown.some((phase) => !Number.isNaN(phase));
      const crossHand: CrossHand = { how: isKnown ? rule.kind : 'unknown', phaseRad: unknown };
      return { ...withKnownCrossHand(calibration, crossHand), crossHandFit: fits };
    }
  }
}

/** Whether a fit of the cross hands is significant and near the model's amplitude. */
export const isBelievable = ({ significance, overModel }: Omit<CrossHandFit, 'channel'>): boolean =>
  significance >= LEAST_SIGNIFICANCE && !(overModel > MOST_OFF_MODEL || overModel < 1 / MOST_OFF_MODEL);

/** Multiplies the gains of Y by e^(iψ) in the channels where ψ is known. */
export function withKnownCrossHand(calibration: Calibration, crossHand: CrossHand): CrossHanded {
  const channels = crossHand.phaseRad.length;
  const inputs = calibration.solved.length / channels;
  const gains = gainsCA(calibration.gains.slice(), channels, inputs);
  crossHand.phaseRad.forEach((phase, c) => {
    if (Number.isNaN(phase)) return;
    const [cosine, sine] = [Math.cos(phase), Math.sin(phase)];
    for (let a = 1; a < inputs; a += 2) {
      const at = 2 * (c * inputs + a);
      const [re, im] = [gains[at], gains[at + 1]];
      gains[at] = re * cosine - im * sine;
      gains[at + 1] = re * sine + im * cosine;
    }
  });
  return { ...calibration, gains, crossHand };
}

/**
 * XY_ij = gX_i conj(gY_j) Σ_q p_q z_q and conj(YX_ij) = conj(gY_i) gX_j Σ_q conj(p_q) z_q, with p_q the fringe of
 * source q and z_q = e^(−iψ)·(U − iV)_q: linear in z. With a model z = e^(−iψ)·known, one unknown; with V = 0 each z_q
 * is an unknown, all on one line through 0.
 */
function solveChannel(
  calibration: Calibration,
  { visibilities, ...counted }: CalibrationInput,
  rule: Extract<CrossHandRule, { kind: 'model' | 'v-zero' }>,
  { stationsM, frequenciesHz, components }: CrossHandSky,
  c: number,
): { phaseRad: number; significance: number; overModel: number } | undefined {
  const stations = stationsM.length;
  const { gains, solved } = calibration;
  const fringes = components.map(({ directionEnu }) => {
    const phasors = new Float64Array(2 * stations);
    fillPhasors(phasors, stationsM, directionEnu, frequenciesHz[c]);
    return phasors;
  });
  // XY = U − iV, through the beam.
  const polarised = components.map((component) => coherencyOf(component, c)[1]);
  const shapes = components.map((component) => attenuationOf(component, stationsM, frequenciesHz[c]));
  const unknowns = rule.kind === 'model' ? 1 : components.length;
  const normal = new Float64Array(2 * unknowns * unknowns);
  const right = new Float64Array(2 * unknowns);
  const row = new Float64Array(2 * unknowns);
  const own = new Float64Array(2);
  let power = 0;
  let weights = 0;
  let equations = 0;
  const add = (dataRe: number, dataIm: number, weight: number): void => {
    for (let m = 0; m < unknowns; m++) {
      for (let n = 0; n < unknowns; n++) {
        const at = 2 * (m * unknowns + n);
        normal[at] += weight * (row[2 * m] * row[2 * n] + row[2 * m + 1] * row[2 * n + 1]);
        normal[at + 1] += weight * (row[2 * m] * row[2 * n + 1] - row[2 * m + 1] * row[2 * n]);
      }
      right[2 * m] += weight * (row[2 * m] * dataRe + row[2 * m + 1] * dataIm);
      right[2 * m + 1] += weight * (row[2 * m] * dataIm - row[2 * m + 1] * dataRe);
    }
    power += weight * (dataRe * dataRe + dataIm * dataIm);
    weights += weight;
    equations++;
  };
  const baselines = (stations * (stations + 1)) / 2;
  const inputs = 2 * stations;
  let b = 0;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++, b++) {
      if (i === j) continue;
      const cell = c * baselines + b;
      const visibility = 8 * cell;
      // XY unchanged; YX conjugated, whose fringe then runs from j to i.
      for (const [x, y, value, sign] of [
        [i, j, visibility + 2, 1],
        [j, i, visibility + 4, -1],
      ] as const) {
        const [atX, atY] = [c * inputs + 2 * x, c * inputs + 2 * y + 1];
        const count = productCount(
          { ...counted, polarisations: 2 },
          cell,
          sign === 1 ? 0 : 1,
          sign === 1 ? 1 : 0,
        );
        if (!(count > 0) || solved[atX] === 0 || solved[atY] === 0) continue;
        const pairRe = gains[2 * atX] * gains[2 * atY] + gains[2 * atX + 1] * gains[2 * atY + 1];
        const pairIm = gains[2 * atX + 1] * gains[2 * atY] - gains[2 * atX] * gains[2 * atY + 1];
        const [dataRe, dataIm] = [visibilities[value] / count, (sign * visibilities[value + 1]) / count];
        if (!Number.isFinite(dataRe) || !Number.isFinite(dataIm)) continue;
        row.fill(0);
        fringes.forEach((fringe, q) => {
          const part = shapes[q](x, y);
          const turnRe = part * (fringe[2 * x] * fringe[2 * y] + fringe[2 * x + 1] * fringe[2 * y + 1]);
          const turnIm = part * (fringe[2 * x + 1] * fringe[2 * y] - fringe[2 * x] * fringe[2 * y + 1]);
          pairResponse(own, components[q], c, [x, 0], [y, 1]);
          const re = own[0] * turnRe - own[1] * turnIm;
          const im = own[0] * turnIm + own[1] * turnRe;
          const seenRe = pairRe * re - pairIm * im;
          const seenIm = pairRe * im + pairIm * re;
          if (rule.kind === 'v-zero') {
            row.set([seenRe, seenIm], 2 * q);
            return;
          }
          row[0] += seenRe * polarised[q].re - seenIm * polarised[q].im;
          row[1] += seenRe * polarised[q].im + seenIm * polarised[q].re;
        });
        add(dataRe, dataIm, count);
      }
    }
  }
  if (equations <= unknowns || weights === 0) return undefined;
  const z = solveHermitian(normal, right, unknowns);
  if (!z) return undefined;
  let explained = 0;
  for (let n = 0; n < 2 * unknowns; n++) explained += z[n] * right[n];
  // The variance of one equation of unit weight; a z's own variance is this over its curvature.
  const variance = Math.max(power - explained, Number.EPSILON * power) / (equations - unknowns);
  const significance = Math.sqrt(explained / variance / unknowns);
  if (rule.kind === 'model') {
    return { phaseRad: -Math.atan2(z[1], z[0]), significance, overModel: Math.hypot(z[0], z[1]) };
  }
  return { phaseRad: alongReal(z, normal, rule.u), significance, overModel: Number.NaN };
}

/** ψ that rotates all z onto the real line, weighted by their errors; the strongest gets the given sign. */
function alongReal(z: Float64Array, normal: Float64Array, sign: 'positive' | 'negative'): number {
  const unknowns = z.length / 2;
  let [re, im, strongest, most] = [0, 0, 0, -1];
  for (let q = 0; q < unknowns; q++) {
    const weight = normal[2 * (q * unknowns + q)];
    const [a, b] = [z[2 * q], z[2 * q + 1]];
    re += weight * (a * a - b * b);
    im += weight * 2 * a * b;
    const power = weight * (a * a + b * b);
    if (power > most) [strongest, most] = [q, power];
  }
  const phase = -Math.atan2(im, re) / 2;
  const u = z[2 * strongest] * Math.cos(phase) - z[2 * strongest + 1] * Math.sin(phase);
  return u > 0 === (sign === 'positive') ? phase : phase + Math.PI;
}

/** Gauss without pivots: normal equations are positive definite, or have no solution. */
function solveHermitian(normal: Float64Array, right: Float64Array, n: number): Float64Array | undefined {
  const a = normal.slice();
  const z = right.slice();
  for (let k = 0; k < n; k++) {
    const pivot = a[2 * (k * n + k)];
    if (!(pivot > 1e-12 * normal[2 * (k * n + k)])) return undefined;
    for (let row = k + 1; row < n; row++) {
      const [re, im] = [a[2 * (row * n + k)] / pivot, a[2 * (row * n + k) + 1] / pivot];
      for (let column = k; column < n; column++) {
        const [from, to] = [2 * (k * n + column), 2 * (row * n + column)];
        a[to] -= re * a[from] - im * a[from + 1];
        a[to + 1] -= re * a[from + 1] + im * a[from];
      }
      z[2 * row] -= re * z[2 * k] - im * z[2 * k + 1];
      z[2 * row + 1] -= re * z[2 * k + 1] + im * z[2 * k];
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let column = k + 1; column < n; column++) {
      const at = 2 * (k * n + column);
      z[2 * k] -= a[at] * z[2 * column] - a[at + 1] * z[2 * column + 1];
      z[2 * k + 1] -= a[at] * z[2 * column + 1] + a[at + 1] * z[2 * column];
    }
    z[2 * k] /= a[2 * (k * n + k)];
    z[2 * k + 1] /= a[2 * (k * n + k)];
  }
  return z;
}

/**
 * ψ from gains of another time whose ψ was known: an input's X–Y phase is assumed constant. Each channel's angle is the
 * one that agrees for most stations; `agreement` is 1 where all do and 0 where none.
 */
export function crossHandFrom(
  found: Calibration,
  earlier: { readonly gains: Float64Array; readonly solved: Uint8Array },
  channels: number,
): { readonly phaseRad: Float64Array; readonly agreement: number } {
  const inputs = found.solved.length / channels;
  const phaseRad = new Float64Array(channels).fill(Number.NaN);
  let [agreements, compared] = [0, 0];
  for (let c = 0; c < channels; c++) {
    let [re, im, stations] = [0, 0, 0];
    for (let a = c * inputs; a < (c + 1) * inputs; a += 2) {
      if (found.solved[a] * found.solved[a + 1] * earlier.solved[a] * earlier.solved[a + 1] === 0) continue;
      const between = phaseBetween(earlier.gains, a) - phaseBetween(found.gains, a);
      re += Math.cos(between);
      im += Math.sin(between);
      stations++;
    }
    if (stations === 0) continue;
    phaseRad[c] = Math.atan2(im, re);
    agreements += Math.hypot(re, im) / stations;
    compared++;
  }
  if (compared === 0)
    refuse('cross-hand', 'no input has gains of both times', 'give gains of the same stations and channels');
  return { phaseRad, agreement: agreements / compared };
}

/** The phase of Y over X, for the station whose X is input `a`. */
const phaseBetween = (gains: Float64Array, a: number): number =>
  Math.atan2(gains[2 * a + 3], gains[2 * a + 2]) - Math.atan2(gains[2 * a + 1], gains[2 * a]);
