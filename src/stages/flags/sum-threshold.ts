/**
 * SumThreshold (Offringa et al. 2010) finds samples that stand out together where none stands out alone. A window of M
 * samples is flagged where the mean of those not yet flagged is above χ = χ₁/ρ^(log₂ n), at least 5/6 χ₁ of its own σ;
 * windows of 1, 2, 4 … samples run along time and along frequency, and what a shorter one flagged no longer counts in a
 * longer one. n is the number of samples in the mean: the authors use M, which applies the threshold of many samples to
 * the few left of a window, and flags good neighbours with the bad. So would the ends of a window that is longer than
 * the interference in it: they stay where they are below half of its threshold. Only excess is searched for:
 * interference adds power, and dips come from the sky.
 */
export interface PlaneShape {
  readonly times: number;
  readonly channels: number;
}

/** State of a sample, [t][c]. */
export const GOOD = 0;
/** No data. */
export const MISSING = 1;
/** Flagged as interference. */
export const TAKEN = 2;

const WINDOWS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];
/** ρ, the value of the authors. */
const FALL = 1.5;

/** In units of a window's threshold: ends below it did not raise the mean, and stay. */
const ENDS = 0.5;

/**
 * Of χ₁, in σ of a mean: ρ alone leaves means of 64 samples a threshold of 0.7 χ₁, which noise passes at 6 σ once in
 * 80,000 windows, and each flags 64 samples.
 */
const LEAST_PART = 5 / 6;

/** χ of a window of so many samples. */
export const thresholdOf = (first: number, samples: number): number =>
  Math.max(first / FALL ** Math.log2(samples), (LEAST_PART * first) / Math.sqrt(samples));

/**
 * How much channels differ from each other at any integration time, and times over the whole band, in units of the
 * samples' own scatter: means over longer windows are no more certain than that.
 */
export interface Structure {
  readonly ofChannels: number;
  readonly ofTimes: number;
}

/** values : [t][c], background removed and in units of their noise. state : [t][c], to which new flags are added. */
export function sumThreshold(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
  first: number,
  { ofChannels, ofTimes }: Structure = { ofChannels: 0, ofTimes: 0 },
): void {
  const found = new Uint8Array(state.length);
  // Values that count, and 0 elsewhere, so that sliding sums need no test.
  const counted = new Float64Array(state.length);
  const good = new Uint8Array(state.length);
  for (let at = 0; at < state.length; at++) {
    if (state[at] !== GOOD) continue;
    counted[at] = values[at];
    good[at] = 1;
  }
  const alongTime = thresholdsBy(first, first * ofChannels);
  const alongBand = thresholdsBy(first, first * ofTimes);
  for (const window of WINDOWS) {
    let any = false;
    if (window <= times) {
      const thresholds = window === 1 ? thresholdsBy(first, 0) : alongTime;
      for (let c = 0; c < channels; c++)
        any =
          slide(counted, good, found, { start: c, step: channels, length: times, window, thresholds }) || any;
    }
    // One sample is the same either way.
    if (window > 1 && window <= channels)
      for (let t = 0; t < times; t++) {
        const line = { start: t * channels, step: 1, length: channels, window, thresholds: alongBand };
        any = slide(counted, good, found, line) || any;
      }
    if (!any) continue;
    for (let at = 0; at < state.length; at++) {
      if (found[at] === 0 || state[at] !== GOOD) continue;
      state[at] = TAKEN;
      counted[at] = 0;
      good[at] = 0;
    }
  }
}

/** [samples], for 1 to the longest window: n times the threshold of their mean. */
const thresholdsBy = (first: number, least: number): Float64Array =>
  Float64Array.from({ length: WINDOWS[WINDOWS.length - 1] + 1 }, (_, n) =>
    n === 0 ? Infinity : n * Math.max(least, thresholdOf(first, n)),
  );

interface Line {
  readonly start: number;
  readonly step: number;
  readonly length: number;
  readonly window: number;
  readonly thresholds: Float64Array;
}

/** Marks the windows of a line whose sum is above its threshold; returns whether there was one. */
function slide(
  counted: Float64Array,
  good: Uint8Array,
  found: Uint8Array,
  { start, step, length, window, thresholds }: Line,
): boolean {
  let any = false;
  let sum = 0;
  let count = 0;
  const width = window * step;
  const end = start + length * step;
  for (let at = start; at < end; at += step) {
    // Sums restart where nothing counts, which removes accumulated rounding.
    if (count === 0) sum = 0;
    sum += counted[at];
    count += good[at];
    const left = at - width;
    if (left >= start) {
      sum -= counted[left];
      count -= good[left];
    }
    if (left + step < start || sum <= thresholds[count]) continue;
    any = true;
    const least = (ENDS * thresholds[count]) / count;
    let [from, to] = [left + step, at];
    while (from < to && counted[from] < least) from += step;
    while (to > from && counted[to] < least) to -= step;
    for (let k = from; k <= to; k += step) found[k] = 1;
  }
  return any;
}
