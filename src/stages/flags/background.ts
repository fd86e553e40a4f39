/** What a plane of amplitudes would be without interference, and the scatter of its noise. */
import { middleOf } from '../../core/median.js';
import { GOOD, type PlaneShape, type Structure } from './sum-threshold.js';

/** Half the windows of running medians: constant interference broader than half a window is treated as the band. */
const LEAST_HALF = 12;
const MOST_HALF = 32;
const halfFor = (length: number): number => Math.min(MOST_HALF, Math.max(LEAST_HALF, Math.floor(length / 8)));
/** Of the smooth background, in samples, and where its tails end. */
const SIGMA = 4;
const REACH = 10;
/** Fewer have no median. */
const LEAST = 3;
/** Running medians of fewer are too uncertain to divide by: of 5 integrations noise alone would lose 0.3 %. */
const LEAST_RUNNING = 10;

/**
 * The running median of good samples. Along frequency a carrier stands out of it, and a burst lifts all of it; along
 * time it is the other way round. NaN where there are too few samples.
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
    const half = Math.min(halfFor(length), (length - 1) >> 1);
    let count = 0;
    const insert = (n: number): void => {
      if (state[start + n * step] !== GOOD) return;
      const value = values[start + n * step];
      let k = count++;
      for (; k > 0 && window[k - 1] > value; k--) window[k] = window[k - 1];
      window[k] = value;
    };
    const remove = (n: number): void => {
      if (state[start + n * step] !== GOOD) return;
      let k = 0;
      while (window[k] !== values[start + n * step]) k++;
      for (count--; k < count; k++) window[k] = window[k + 1];
    };
    const set = (from: number, to: number): void => {
      if (count < LEAST_RUNNING) return;
      const middle = (window[(count - 1) >> 1] + window[count >> 1]) / 2;
      for (let n = from; n <= to; n++) middles[start + n * step] = middle;
    };
    // At the ends the whole window stays, beside the sample: medians of half as many would be too uncertain to divide by.
    const last = length - 1 - half;
    for (let n = 0; n < 2 * half; n++) insert(n);
    for (let n = half; n <= last; n++) {
      insert(n + half);
      set(n === half ? 0 : n, n === last ? length - 1 : n);
      remove(n - half);
    }
  };
  if (direction === 'along frequency') for (let t = 0; t < times; t++) along(t * channels, 1, channels);
  else for (let c = 0; c < channels; c++) along(c, channels, times);
  return middles;
}

const taps = Float64Array.from({ length: REACH + 1 }, (_, n) => Math.exp(-0.5 * (n / SIGMA) ** 2));

/**
 * The mean of good samples around each sample, weighted by a Gaussian in time and frequency. NaN where there are none.
 */
export function smoothBackground(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
): Float64Array {
  const sums = new Float64Array(values.length);
  let bad = 0;
  for (let at = 0; at < values.length; at++) {
    if (state[at] === GOOD) sums[at] = values[at];
    else bad++;
  }
  const across = new Float64Array(values.length);
  const above = spread(sums, across, new Float64Array(values.length), { times, channels });
  const below =
    bad < FEW * values.length
      ? weightsLess(state, { times, channels })
      : spread(
          Float64Array.from(state, (one) => (one === GOOD ? 1 : 0)),
          across.fill(0),
          new Float64Array(values.length),
          { times, channels },
        );
  // A rounding error where the weight is zero counts as zero.
  for (let at = 0; at < above.length; at++) above[at] = below[at] > 1e-9 ? above[at] / below[at] : Number.NaN;
  return above;
}

/** Fraction of bad samples below which they are subtracted one by one, which is cheaper. */
const FEW = 0.04;

/** The Gaussian's sum over good samples: that of all samples, which is a product, less that of the others. */
function weightsLess(state: Uint8Array, { times, channels }: PlaneShape): Float64Array {
  const reachOf = (length: number): Float64Array =>
    Float64Array.from({ length }, (_, n) => {
      let sum = 0;
      for (let k = Math.max(0, n - REACH); k <= Math.min(length - 1, n + REACH); k++)
        sum += taps[Math.abs(k - n)];
      return sum;
    });
  const [ofTimes, ofChannels] = [reachOf(times), reachOf(channels)];
  const weights = new Float64Array(state.length);
  for (let t = 0; t < times; t++)
    for (let c = 0; c < channels; c++) weights[t * channels + c] = ofTimes[t] * ofChannels[c];
  for (let at = 0; at < state.length; at++) {
    if (state[at] === GOOD) continue;
    const [t, c] = [Math.floor(at / channels), at % channels];
    const lastChannel = Math.min(channels - 1, c + REACH);
    for (let k = Math.max(0, t - REACH); k <= Math.min(times - 1, t + REACH); k++) {
      const tap = taps[Math.abs(k - t)];
      for (let d = Math.max(0, c - REACH); d <= lastChannel; d++)
        weights[k * channels + d] -= tap * taps[Math.abs(d - c)];
    }
  }
  return weights;
}

/**
 * result += the plane convolved with the Gaussian, both ways; `across` and `result` begin with zeros. Row by row, in
 * memory order.
 */
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

/** The least noise assumed: even where noise is negligible, the plane's own shape deviates by so much. */
const LEAST_NOISE = 2e-3;
/** σ over the median absolute deviation of a normal distribution. */
const MAD_TO_SIGMA = 1.4826;

/** Samples beyond this, in σ, are left out of means. */
const CLIP = 4;

/**
 * (value/background − 1), less its mean, in units of its own scatter. Bad samples, and those without a background, are
 * 0. Amplitudes are skewed: of Rayleigh's the median is 0.11 σ below the mean, by which a mean of 64 samples would be
 * off by nearly one of its own σ. So the mean is used, of samples within 4 σ of the median.
 */
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
  const deviations = Float64Array.from({ length: count }, (_, n) => Math.abs(known[n] - middle));
  const noise = Math.max(MAD_TO_SIGMA * middleOf(deviations, count), LEAST_NOISE);
  let [sum, within] = [0, 0];
  for (let n = 0; n < count; n++)
    if (Math.abs(known[n] - middle) <= CLIP * noise) {
      sum += known[n];
      within++;
    }
  const mean = sum / within;
  for (let at = 0; at < ratios.length; at++)
    ratios[at] = Number.isNaN(ratios[at]) ? 0 : (ratios[at] - mean) / noise;
  return ratios;
}

/** The variance of a median of n samples over that of one, times n. */
const MEDIAN_VARIANCE = Math.PI / 2;

/** The scatter of channel medians, and of time medians, beyond what noise of 1 gives them. */
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
