/**
 * SumThreshold (Offringa et al. 2010): samples that stand out together are found where none stands out alone. A window of M
 * samples is flagged where the mean of those not yet flagged is above χ = χ₁/ρ^(log₂ n); windows of 1, 2, 4 … samples run along
 * time and along frequency, and what a shorter one found no longer counts in a longer one. n is how many samples the mean is of:
 * the authors take M, which holds the few that are left of a window to the threshold of many, and takes good neighbours with the
 * bad. Only excess is looked for: interference adds power, and dips are the sky's own.
 */
export interface PlaneShape {
  readonly times: number;
  readonly channels: number;
}

/** What is known of a sample, [t][c]. */
export const GOOD = 0;
/** Nothing was measured. */
export const MISSING = 1;
/** Taken for interference. */
export const TAKEN = 2;

export const WINDOWS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];
/** ρ, as the authors found it to work. */
const FALL = 1.5;

/** χ of a window of so many samples. */
export const thresholdOf = (first: number, samples: number): number => first / FALL ** Math.log2(samples);

/**
 * How far channels differ from each other for as long as one looks, and times over the whole band, in units of the samples' own
 * spread: means over longer windows do not become more certain than that.
 */
export interface Structure {
  readonly ofChannels: number;
  readonly ofTimes: number;
}

/** values : [t][c], background removed and in units of their noise. state : [t][c], to which what is found is added. */
export function sumThreshold(
  values: Float64Array,
  state: Uint8Array,
  { times, channels }: PlaneShape,
  first: number,
  { ofChannels, ofTimes }: Structure = { ofChannels: 0, ofTimes: 0 },
): void {
  const found = new Uint8Array(state.length);
  const longest = Math.max(times, channels);
  const scratch = { sums: new Float64Array(longest + 1), good: new Float64Array(longest + 1) };
  const line = (start: number, step: number, length: number, window: number, least: number): void => {
    if (window > length) return;
    const { sums, good } = scratch;
    for (let n = 0; n < length; n++) {
      const at = start + n * step;
      const isGood = state[at] === GOOD;
      sums[n + 1] = sums[n] + (isGood ? values[at] : 0);
      good[n + 1] = good[n] + (isGood ? 1 : 0);
    }
    for (let n = 0; n + window <= length; n++) {
      const count = good[n + window] - good[n];
      if (count === 0) continue;
      const threshold = Math.max(least, thresholdOf(first, count));
      if (sums[n + window] - sums[n] <= count * threshold) continue;
      for (let k = n; k < n + window; k++) found[start + k * step] = 1;
    }
  };
  for (const window of WINDOWS) {
    for (let c = 0; c < channels; c++) line(c, channels, times, window, window > 1 ? first * ofChannels : 0);
    // One sample is the same either way.
    if (window > 1) for (let t = 0; t < times; t++) line(t * channels, 1, channels, window, first * ofTimes);
    for (let at = 0; at < state.length; at++) if (found[at] === 1 && state[at] === GOOD) state[at] = TAKEN;
  }
}
