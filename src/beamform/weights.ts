/** Weights of beams: calibrated by gains, steered by delays, as floats or as 8-bit integers with one scale for each beam. */
import { halfToEven } from '../core/round-up.js';
import type { WeightType } from './plan.js';

export interface SteeringOptions {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly beams: number;
  readonly frequenciesHz: Float64Array;
  readonly weights: WeightType;
}

export interface Steered {
  /** [c][b][a], complex. */
  readonly weights: Int8Array | Float32Array;
  /** [b], the factor of a weight of modulus 1; 0 where a beam has no weights. */
  readonly scales: Float64Array;
}

export interface InverseGains {
  /** [c][a], complex: 1/g, tapered; 0 where an input is left out. */
  readonly inverse: Float64Array;
  /** Largest modulus, finite. */
  readonly largest: number;
}

/**
 * gains : [c][a], complex; used : [c][a], 0 where an input is left out; factors : [a], tapers of the weights. Inputs
 * without a usable gain are left out too.
 */
export function inverseGains(
  gains: ArrayLike<number> | undefined,
  used: Uint8Array,
  factors?: Float64Array,
): InverseGains {
  const inverse = new Float64Array(2 * used.length);
  let most = 0;
  for (let n = 0; n < used.length; n++) {
    if (used[n] === 0) continue;
    const [re, im] = gains ? [gains[2 * n], gains[2 * n + 1]] : [1, 0];
    const power = re * re + im * im;
    const factor = factors?.[n % factors.length] ?? 1;
    if (!(power > 0) || !Number.isFinite(power) || factor === 0) {
      used[n] = 0;
      continue;
    }
    inverse[2 * n] = (factor * re) / power;
    inverse[2 * n + 1] = (-factor * im) / power;
    most = Math.max(most, (factor * factor) / power);
  }
  return { inverse, largest: Math.sqrt(most) };
}

/** Channels after which a phase is computed anew: rounding errors of products stay below 1e-14. */
const ANCHOR = 32;
const LARGEST = 127;

/** Phase rotations of channels: those of every `every`th are stored, the others are a step from the one before. */
export interface SteeringPhases {
  readonly every: number;
  /** [⌈c / every⌉][b][s], complex. */
  readonly anchors: Float64Array;
  /** [b][s], complex. */
  readonly steps: Float64Array;
}

/** e^(−2πi f d); delaysS : [b][s]. */
export function steeringPhases(frequenciesHz: Float64Array, delaysS: Float64Array): SteeringPhases {
  const stepHz = uniformStep(frequenciesHz);
  const every = stepHz === undefined ? 1 : ANCHOR;
  const many = delaysS.length;
  const anchors = new Float64Array(2 * many * Math.ceil(frequenciesHz.length / every));
  const steps = new Float64Array(2 * many);
  for (let n = 0; n < many; n++) {
    steps.set(phase(stepHz ?? 0, delaysS[n]), 2 * n);
    for (let c = 0; c < frequenciesHz.length; c += every)
      anchors.set(phase(frequenciesHz[c], delaysS[n]), 2 * ((c / every) * many + n));
  }
  return { every, anchors, steps };
}

/** e^(−2πi f d) : [n], complex, of one channel after the other, in the same memory; delaysS : [n]. */
export function* steeringVectors(
  frequenciesHz: Float64Array,
  delaysS: Float64Array,
): Generator<Float64Array> {
  const { every, anchors, steps } = steeringPhases(frequenciesHz, delaysS);
  const now = new Float64Array(2 * delaysS.length);
  for (let c = 0; c < frequenciesHz.length; c++) {
    if (c % every === 0) now.set(anchors.subarray((c / every) * now.length, (c / every + 1) * now.length));
    else
      for (let n = 0; n < now.length; n += 2) {
        const re = now[n] * steps[n] - now[n + 1] * steps[n + 1];
        now[n + 1] = now[n + 1] * steps[n] + now[n] * steps[n + 1];
        now[n] = re;
      }
    yield now;
  }
}

/** For a weight of modulus 1: 8-bit weights have one scale, from the largest gain and not from a moment's phases. */
export const weightScale = (type: WeightType, { largest }: InverseGains): number =>
  type === 'cf32' ? 1 : largest > 0 ? LARGEST / largest : 0;

/**
 * w = e^(−2πi f d) / g: a wave that reaches a station early by d is delayed by the same time. delaysS : [b][s]. A card
 * does the same, step by step (cuda/beamform-finish.cu).
 */
export function steeredWeights(
  { stations, polarisations, beams, frequenciesHz, weights: type }: SteeringOptions,
  delaysS: Float64Array,
  gains: InverseGains,
): Steered {
  const channels = frequenciesHz.length;
  const inputs = stations * polarisations;
  const { inverse } = gains;
  const scale = weightScale(type, gains);
  const made =
    type === 'ci8'
      ? new Int8Array(2 * channels * beams * inputs)
      : new Float32Array(2 * channels * beams * inputs);
  let c = 0;
  for (const vectors of steeringVectors(frequenciesHz, delaysS)) {
    for (let b = 0; b < beams; b++)
      for (let s = 0; s < stations; s++) {
        const n = 2 * (b * stations + s);
        const [cos, sin] = [vectors[n], vectors[n + 1]];
        for (let p = 0; p < polarisations; p++) {
          const a = s * polarisations + p;
          const g = 2 * (c * inputs + a);
          const to = 2 * ((c * beams + b) * inputs + a);
          made[to] = rounded(type, scale * (inverse[g] * cos - inverse[g + 1] * sin));
          made[to + 1] = rounded(type, scale * (inverse[g] * sin + inverse[g + 1] * cos));
        }
      }
    c++;
  }
  return { weights: made, scales: new Float64Array(beams).fill(scale) };
}

function phase(frequencyHz: number, delayS: number): [number, number] {
  const angle = -2 * Math.PI * ((frequencyHz * delayS) % 1);
  return [Math.cos(angle), Math.sin(angle)];
}

/** Undefined where channels are not evenly spaced. */
export function uniformStep(frequenciesHz: Float64Array): number | undefined {
  const last = frequenciesHz.length - 1;
  const stepHz = last === 0 ? 0 : (frequenciesHz[last] - frequenciesHz[0]) / last;
  return frequenciesHz.every(
    (one, c) => Math.abs(one - frequenciesHz[0] - c * stepHz) <= 1e-6 * Math.abs(stepHz),
  )
    ? stepHz
    : undefined;
}

const rounded = (type: WeightType, value: number): number => (type === 'ci8' ? halfToEven(value) : value);
