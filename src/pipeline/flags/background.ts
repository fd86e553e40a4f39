/** What a plane of amplitudes would be without interference, and how far its noise makes it stray. */
import { middleOf } from '../../core/median.js';
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
  /** What is in the window, sorted. */
  const window = new Float64Array(2 * MOST_HALF + 2);
  const along = (start: number, step: number, length: number): void => {
    const half = halfFor(length);
    let count = 0;
    const insert = (n: number): void => {
      const at = start + n * step;
      if (n >= length || state[at] !== GOOD) return;
      const value = values[at];
      let k = count++;
      for (; k > 0 && window[k - 1] > value; k--) window[k] = window[k - 1];
      window[k] = value;
    };
    for (let n = 0; n < half; n++) insert(n);
    for (let n = 0; n < length; n++) {
      insert(n + half);
      const gone = start + (n - half - 1) * step;
      if (gone >= start && state[gone] === GOOD) {
        const value = values[gone];
        let k = 0;
        while (window[k] !== value) k++;
        for (count--; k < count; k++) window[k] = window[k + 1];
      }
      if (count < LEAST) continue;
      const middle = (count - 1) >> 1;
      middles[start + n * step] = (window[middle] + window[count >> 1]) / 2;
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
  const sums = new Float64Array(values.length);
  const weights = new Float64Array(values.length);
  for (let at = 0; at < values.length; at++) {
    if (state[at] !== GOOD) continue;
    sums[at] = values[at];
    weights[at] = 1;
  }
  const across = new Float64Array(values.length);
  const above = spread(sums, across, new Float64Array(values.length), { times, channels });
  const below = spread(weights, across.fill(0), new Float64Array(values.length), { times, channels });
  for (let at = 0; at < above.length; at++) above[at] = below[at] > 0 ? above[at] / below[at] : Number.NaN;
  return above;
}

/** result += the plane by the Gaussian, both ways; `across` and `result` begin with zeros. Rows at a time, as memory lies. */
function spread(
  plane: Float64Array,
  across: Float64Array,
  result: Float64Array,
  { times, channels }: PlaneShape,
): Float64Array {
  for (let t = 0; t < times; t++) {
    const row = t * channels;
    for (let shift = -REACH; shift <= REACH; shift++) {
      const tap = taps[Math.abs(shift)];
      const end = row + Math.min(channels, channels - shift);
      for (let at = row + Math.max(0, -shift); at < end; at++) across[at] += tap * plane[at + shift];
    }
  }
  for (let t = 0; t < times; t++) {
    const end = Math.min(times - 1, t + REACH);
    for (let k = Math.max(0, t - REACH); k <= end; k++) {
      const tap = taps[Math.abs(k - t)];
      const [to, from] = [t * channels, k * channels];
      for (let c = 0; c < channels; c++) result[to + c] += tap * across[from + c];
    }
  }
  return result;
}

/** Where noise hardly moves a plane, its own shape still strays by so much. */
const LEAST_NOISE = 2e-3;
/** Of a normal distribution the middle deviation is so much less than σ. */
const MAD_TO_SIGMA = 1.4826;

/** (value/background − 1), less its middle, in units of its own spread. What is not good, or has no background, is 0. */
export function whitened(values: Float64Array, background: Float64Array, state: Uint8Array): Float64Array {
  const ratios = new Float64Array(values.length);
  const known = new Float64Array(values.length);
  let count = 0;
  for (let at = 0; at < values.length; at++) {
    const isKnown = background[at] > 0;
    ratios[at] = isKnown ? values[at] / background[at] - 1 : Number.NaN;
    if (isKnown && state[at] === GOOD) known[count++] = ratios[at];
  }
  if (count === 0) return ratios.fill(0);
  const middle = middleOf(known, count);
  for (let n = 0; n < count; n++) known[n] = Math.abs(known[n] - middle);
  const noise = Math.max(MAD_TO_SIGMA * middleOf(known, count), LEAST_NOISE);
  for (let at = 0; at < ratios.length; at++)
    ratios[at] = Number.isNaN(ratios[at]) ? 0 : (ratios[at] - middle) / noise;
  return ratios;
}

/** The variance of a median of n samples over that of one, times n. */
const MEDIAN_VARIANCE = Math.PI / 2;

/** The spread of the middles of channels over time, and of times over the band, beyond what noise of 1 makes of them. */
export function structureOf(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
): Structure {
  const good = new Float64Array(Math.max(times, channels));
  const spreadOf = (lines: number, lineStep: number, length: number, step: number): number => {
    const middles = new Float64Array(lines);
    let [known, samples] = [0, 0];
    for (let line = 0; line < lines; line++) {
      let count = 0;
      for (let n = 0, at = line * lineStep; n < length; n++, at += step)
        if (state[at] === GOOD) good[count++] = values[at];
      if (count === 0) continue;
      middles[known++] = middleOf(good, count);
      samples += count;
    }
    if (known < LEAST) return 0;
    const middle = middleOf(middles, known);
    for (let n = 0; n < known; n++) middles[n] = Math.abs(middles[n] - middle);
    const deviation = MAD_TO_SIGMA * middleOf(middles, known);
    const noise = (MEDIAN_VARIANCE * known) / samples;
    return Math.sqrt(Math.max(0, deviation ** 2 - noise));
  };
  return {
    ofChannels: spreadOf(channels, 1, times, channels),
    ofTimes: spreadOf(times, channels, channels, 1),
  };
}
