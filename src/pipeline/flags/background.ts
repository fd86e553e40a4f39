/** What a plane of amplitudes would be without interference, and how far its noise makes it stray. */
import { median } from '../../core/median.js';
import { GOOD, type PlaneShape } from './sum-threshold.js';

/** Half the windows of running medians: interference broader than half a window, and always there, is taken for the band. */
const LEAST_HALF = 5;
const MOST_HALF = 32;
const halfFor = (length: number): number =>
  Math.min(MOST_HALF, Math.max(LEAST_HALF, Math.floor(length / 8)));
/** Of the smooth background, in samples, and where its tails end. */
const SIGMA = 4;
const REACH = 10;
/** Fewer have no middle. */
const LEAST = 3;

/**
 * The lower of two running medians of what is good, along frequency and along time: a carrier lifts the one along time alone, a
 * burst the one along frequency. NaN where neither has samples enough.
 */
export function robustBackground(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
): Float64Array {
  const lowest = new Float64Array(values.length).fill(Number.NaN);
  const along = (start: number, step: number, length: number): void => {
    const half = halfFor(length);
    const window: number[] = [];
    const insert = (n: number): void => {
      const at = start + n * step;
      if (n >= length || state[at] !== GOOD) return;
      let k = window.length;
      while (k > 0 && window[k - 1] > values[at]) k--;
      window.splice(k, 0, values[at]);
    };
    for (let n = 0; n < half; n++) insert(n);
    for (let n = 0; n < length; n++) {
      insert(n + half);
      const gone = n - half - 1;
      if (gone >= 0 && state[start + gone * step] === GOOD)
        window.splice(window.indexOf(values[start + gone * step]), 1);
      if (window.length < LEAST) continue;
      const middle = (window.length - 1) / 2;
      const value = (window[Math.floor(middle)] + window[Math.ceil(middle)]) / 2;
      const at = start + n * step;
      if (!(lowest[at] <= value)) lowest[at] = value;
    }
  };
  if (channels >= LEAST) for (let t = 0; t < times; t++) along(t * channels, 1, channels);
  if (times >= LEAST) for (let c = 0; c < channels; c++) along(c, channels, times);
  return lowest;
}

const taps = Float64Array.from({ length: REACH + 1 }, (_, n) => Math.exp(-0.5 * (n / SIGMA) ** 2));

/** The mean of what is good around each sample, by a Gaussian of time and frequency. NaN where nothing is. */
export function smoothBackground(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
): Float64Array {
  const sums = Float64Array.from(values, (value, at) => (state[at] === GOOD ? value : 0));
  const weights = Float64Array.from(state, (one) => (one === GOOD ? 1 : 0));
  const spread = (plane: Float64Array): Float64Array => {
    const across = new Float64Array(plane.length);
    const result = new Float64Array(plane.length);
    for (let t = 0; t < times; t++)
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        const end = Math.min(channels - 1, c + REACH);
        for (let k = Math.max(0, c - REACH); k <= end; k++) sum += taps[Math.abs(k - c)] * plane[t * channels + k];
        across[t * channels + c] = sum;
      }
    for (let t = 0; t < times; t++) {
      const end = Math.min(times - 1, t + REACH);
      for (let k = Math.max(0, t - REACH); k <= end; k++) {
        const tap = taps[Math.abs(k - t)];
        for (let c = 0; c < channels; c++) result[t * channels + c] += tap * across[k * channels + c];
      }
    }
    return result;
  };
  const above = spread(sums);
  const below = spread(weights);
  return above.map((sum, at) => (below[at] > 0 ? sum / below[at] : Number.NaN));
}

/** Where noise hardly moves a plane, its own shape still strays by so much. */
const LEAST_NOISE = 2e-3;
/** Of a normal distribution the middle deviation is so much less than σ. */
const MAD_TO_SIGMA = 1.4826;

/** (value/background − 1), less its middle, in units of its own spread. What is not good, or has no background, is 0. */
export function whitened(values: Float64Array, background: Float64Array, state: Uint8Array): Float64Array {
  const ratios = new Float64Array(values.length).fill(Number.NaN);
  const known: number[] = [];
  for (let at = 0; at < values.length; at++) {
    if (!(background[at] > 0)) continue;
    ratios[at] = values[at] / background[at] - 1;
    if (state[at] === GOOD) known.push(ratios[at]);
  }
  if (known.length === 0) return ratios.fill(0);
  const middle = median(known);
  const spread = MAD_TO_SIGMA * median(known.map((value) => Math.abs(value - middle)));
  const noise = Math.max(spread, LEAST_NOISE);
  return ratios.map((value) => (Number.isNaN(value) ? 0 : (value - middle) / noise));
}
