/** How a block's spectra are cut into windows that a flagger judges: alike for whoever sums their powers on the way to it. */

/** Channelisers sum powers of so many spectra at a time. */
export const SUMMED_AT_ONCE = 16;
/** Spectra of windows of which one more or less of those does not matter. */
export const LONG_WINDOW = 128;

/** Windows of about `spectraPerWindow` that so many spectra make. */
export const windowsIn = (spectra: number, spectraPerWindow: number): number =>
  Math.max(1, Math.round(spectra / spectraPerWindow));

/** Where they are cut into so many: all of the same length within `step`, at whose multiples all but the last end. */
export function cutEvenly(spectra: number, windows: number, step: number): Int32Array {
  const edges = new Int32Array(windows + 1);
  for (let n = 0; n < windows; n++) edges[n] = step * Math.round((n * spectra) / (step * windows));
  edges[windows] = spectra;
  return edges;
}

export function areSameEdges(x: Int32Array, y: Int32Array): boolean {
  if (x.length !== y.length) return false;
  for (let n = 0; n < x.length; n++) if (x[n] !== y[n]) return false;
  return true;
}
