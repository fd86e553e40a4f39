/**
 * Weights with nulls: a beam minus its projection onto beams towards the nulls. Of all weights whose response towards
 * every null is 0 they are the nearest to those without nulls. As floats: 8 bits leave a response of about -50 dB.
 */
import { steeringVectors, type InverseGains, type SteeringOptions } from './weights.js';

export interface NullOptions extends Omit<SteeringOptions, 'weights'> {
  /** [a], tapers of stations; the inverse gains include them. */
  readonly factors: Float64Array;
}

export interface Nulled {
  /** [c][b][a], complex. 0 where too few inputs are left, or where a beam points at a null. */
  readonly weights: Float32Array;
  /** [b], least over channels and polarisations: squared signal-to-noise ratio relative to that of equal weights. */
  readonly efficiency: Float64Array;
}

/** Relative to the previous norm: a null that depends on others, a beam that points at a null. */
const DEPENDENT = 1e-9;

/** Complex numbers of one polarisation's stations. */
type Vector = Float64Array;

/** Σ t·conj(x)·y */
function product(x: Vector, y: Vector, t: Float64Array): readonly [number, number] {
  let [re, im] = [0, 0];
  for (let s = 0; s < t.length; s++) {
    const [xr, xi, yr, yi] = [x[2 * s], x[2 * s + 1], y[2 * s], y[2 * s + 1]];
    re += t[s] * (xr * yr + xi * yi);
    im += t[s] * (xr * yi - xi * yr);
  }
  return [re, im];
}

/** Removes its projection onto an orthonormal basis; twice, since once leaves rounding errors. */
function remove(of: Vector, basis: readonly Vector[], t: Float64Array): void {
  for (let pass = 0; pass < 2; pass++)
    for (const one of basis) {
      const [re, im] = product(one, of, t);
      for (let n = 0; n < of.length; n += 2) {
        of[n] -= re * one[n] - im * one[n + 1];
        of[n + 1] -= re * one[n + 1] + im * one[n];
      }
    }
}

/**
 * delaysS : [b][s], nullsS : [k][s]. The response towards a beam's own place is Σ of the factors, as without nulls.
 */
export function nulledWeights(
  { stations, polarisations, beams, frequenciesHz, factors }: NullOptions,
  delaysS: Float64Array,
  nullsS: Float64Array,
  { inverse }: InverseGains,
): Nulled {
  const inputs = stations * polarisations;
  const weights = new Float32Array(2 * frequenciesHz.length * beams * inputs);
  const efficiency = new Float64Array(beams).fill(1);
  const many = beams + nullsS.length / stations;
  const allS = new Float64Array(many * stations);
  allS.set(delaysS);
  allS.set(nullsS, delaysS.length);
  const vectors = steeringVectors(frequenciesHz, allS);
  let c = 0;
  for (const all of vectors) {
    const vector = (n: number): Vector => all.slice(2 * n * stations, 2 * (n + 1) * stations);
    for (let p = 0; p < polarisations; p++) {
      const t = Float64Array.from({ length: stations }, (_, s) => {
        const a = s * polarisations + p;
        const g = 2 * (c * inputs + a);
        return inverse[g] === 0 && inverse[g + 1] === 0 ? 0 : factors[a];
      });
      const used = t.reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);
      const total = t.reduce((sum, one) => sum + one, 0);
      if (used === 0) continue;
      const basis: Vector[] = [];
      for (let n = beams; n < many; n++) {
        const one = vector(n);
        remove(one, basis, t);
        const [square] = product(one, one, t);
        if (square > DEPENDENT * total) basis.push(one.map((part) => part / Math.sqrt(square)));
      }
      for (let b = 0; b < beams; b++) {
        const own = vector(b);
        remove(own, basis, t);
        const [response] = product(vector(b), own, t);
        if (!(response > DEPENDENT * total)) {
          efficiency[b] = 0;
          continue;
        }
        let noise = 0;
        for (let s = 0; s < stations; s++) {
          const a = s * polarisations + p;
          const g = 2 * (c * inputs + a);
          const to = 2 * ((c * beams + b) * inputs + a);
          const [re, im] = [own[2 * s], own[2 * s + 1]].map((part) => (part * total) / response);
          weights[to] = inverse[g] * re - inverse[g + 1] * im;
          weights[to + 1] = inverse[g] * im + inverse[g + 1] * re;
          noise += t[s] * t[s] * (re * re + im * im);
        }
        efficiency[b] = Math.min(efficiency[b], (total * total) / (used * noise));
      }
    }
    c++;
  }
  return { weights, efficiency };
}

/** Of weights without nulls; used : [c][a]. */
export function taperEfficiency(factors: Float64Array, used: Uint8Array, polarisations: 1 | 2): number {
  const inputs = factors.length;
  let least = 1;
  for (let row = 0; row < used.length; row += inputs)
    for (let p = 0; p < polarisations; p++) {
      let [many, sum, squares] = [0, 0, 0];
      for (let a = p; a < inputs; a += polarisations) {
        if (used[row + a] === 0) continue;
        many++;
        sum += factors[a];
        squares += factors[a] ** 2;
      }
      if (many > 0) least = Math.min(least, sum ** 2 / (many * squares));
    }
  return least;
}

export interface Towards {
  /** [n][s], at a moment. */
  readonly delaysS: Float64Array;
  /** [n][s], the delays that remain within a channel. */
  readonly leftS: Float64Array;
}

/** Channels for computing depths, spread evenly. */
const DEPTH_CHANNELS = 16;

/**
 * [b], the depth of the shallowest null: largest response towards one, in power and as a mean over the width of a
 * channel, relative to that towards the beam's place. By direct sums of the final weights.
 */
export function nullDepths(
  { stations, polarisations, beams, frequenciesHz, factors }: NullOptions,
  channelWidthHz: number,
  towards: Towards,
  nulls: Towards,
  { inverse }: InverseGains,
  weights: Float32Array,
): Float64Array {
  const inputs = stations * polarisations;
  const last = frequenciesHz.length - 1;
  const channels = new Set(
    Array.from({ length: DEPTH_CHANNELS }, (_, n) => Math.round((n * last) / (DEPTH_CHANNELS - 1))),
  );
  const depths = new Float64Array(beams);
  /** |Σ w·g·e^(2πi f d)|², Simpson's mean over a channel. */
  const power = (of: Towards, n: number, c: number, b: number, p: number): number => {
    let mean = 0;
    for (const [offset, share] of [
      [-0.5, 1 / 6],
      [0, 4 / 6],
      [0.5, 1 / 6],
    ]) {
      let [re, im] = [0, 0];
      for (let s = 0; s < stations; s++) {
        const a = s * polarisations + p;
        const g = 2 * (c * inputs + a);
        const square = inverse[g] ** 2 + inverse[g + 1] ** 2;
        if (square === 0) continue;
        const w = 2 * ((c * beams + b) * inputs + a);
        // The inverse includes the factor.
        const by = factors[a] / square;
        const ur = by * (weights[w] * inverse[g] + weights[w + 1] * inverse[g + 1]);
        const ui = by * (weights[w + 1] * inverse[g] - weights[w] * inverse[g + 1]);
        const turns =
          ((frequenciesHz[c] * of.delaysS[n * stations + s]) % 1) +
          offset * channelWidthHz * of.leftS[n * stations + s];
        const [cos, sin] = [Math.cos(2 * Math.PI * turns), Math.sin(2 * Math.PI * turns)];
        re += ur * cos - ui * sin;
        im += ur * sin + ui * cos;
      }
      mean += share * (re * re + im * im);
    }
    return mean;
  };
  for (const c of channels)
    for (let b = 0; b < beams; b++)
      for (let p = 0; p < polarisations; p++) {
        const main = power(towards, b, c, b, p);
        for (let k = 0; main > 0 && k < nulls.delaysS.length / stations; k++)
          depths[b] = Math.max(depths[b], power(nulls, k, c, b, p) / main);
      }
  return depths;
}
