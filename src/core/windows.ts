/** How a block's spectra are divided into windows for the flagger; the same for all code that sums their powers. */

/** Channelisers sum the powers of this many spectra at a time. */
export const SUMMED_AT_ONCE = 16;
/** Spectra of a window long enough that SUMMED_AT_ONCE more or less do not matter. */
export const LONG_WINDOW = 128;

/** Number of windows of about `spectraPerWindow` spectra. */
export const windowsIn = (spectra: number, spectraPerWindow: number): number =>
  Math.max(1, Math.round(spectra / spectraPerWindow));

/** Divides spectra into windows of equal length within `step`; all but the last end at multiples of `step`. */
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
