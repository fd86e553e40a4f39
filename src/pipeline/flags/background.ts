/** What a plane of amplitudes would be without interference, and how far its noise makes it stray. */
import { median } from '../../core/median.js';
import { GOOD, type PlaneShape, type Structure } from './sum-threshold.js';

/** Half the windows of running medians: interference broader than half a window, and always there, is taken for the band. */
const LEAST_HALF = 5;
const MOST_HALF = 32;
const halfFor = (length: number): number => Math.min(MOST_HALF, Math.max(LEAST_HALF, Math.floor(length / 8)));
/** Of the smooth background, in samples, and where its tails end. */
const SIGMA = 4;
const REACH = 10;
/** Fewer have no middle. */
const LEAST = 3;

/**
 * The running median of what is good. Along frequency a carrier stands out of it, and a burst lifts all of it; along time it is
 * the other way round. NaN where there are too few samples.
 */
export function robustBackground(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
  direction: 'along frequency' | 'along time',
): Float64Array {
  const middles = new Float64Array(values.length).fill(Number.NaN);
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
      middles[start + n * step] = (window[Math.floor(middle)] + window[Math.ceil(middle)]) / 2;
    }
  };
  if (direction === 'along frequency') for (let t = 0; t < times; t++) along(t * channels, 1, channels);
  else for (let c = 0; c < channels; c++) along(c, channels, times);
  return middles;
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
        for (let k = Math.max(0, c - REACH); k <= end; k++)
          sum += taps[Math.abs(k - c)] * plane[t * channels + k];
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

/** The variance of a median of n samples over that of one, times n. */
const MEDIAN_VARIANCE = Math.PI / 2;

/** The spread of the middles of channels over time, and of times over the band, beyond what noise of 1 makes of them. */
export function structureOf(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
): Structure {
  const spreadOf = (lines: number, length: number, at: (line: number, n: number) => number): number => {
    const middles: number[] = [];
    let samples = 0;
    for (let line = 0; line < lines; line++) {
      const good: number[] = [];
      for (let n = 0; n < length; n++) if (state[at(line, n)] === GOOD) good.push(values[at(line, n)]);
      if (good.length === 0) continue;
      middles.push(median(good));
      samples += good.length;
    }
    if (middles.length < LEAST) return 0;
    const middle = median(middles);
    const spread = MAD_TO_SIGMA * median(middles.map((value) => Math.abs(value - middle)));
    const noise = (MEDIAN_VARIANCE * middles.length) / samples;
    return Math.sqrt(Math.max(0, spread ** 2 - noise));
  };
  return {
    ofChannels: spreadOf(channels, times, (c, t) => t * channels + c),
    ofTimes: spreadOf(times, channels, (t, c) => t * channels + c),
  };
}
