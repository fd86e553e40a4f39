/** Brightness to colour: the stretch, the colour map and the pixels as a PNG. */
import { interpolateInferno } from 'd3-scale-chromatic';
import { encode } from 'fast-png';
import type { PlaneML } from '../core/axes.js';
import { realNumber, refuse } from '../core/errors.js';
import { COLOUR_STEPS, colourTable } from '../formats/colours.js';

/** The range of brightness that the colours span, and how they are spread over it. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
  /** Colour = fraction of the range to this power: below 1 lifts what is faint. */
  readonly exponent: number;
}

/** Shows sidelobes and noise beside sources a hundred times as bright. */
const EXPONENT = 0.6;

/** Where on the colour map, 0…1, a brightness falls; what is beyond the range gets the colour of its end. */
export function colourFraction(value: number, { low, high, exponent }: Stretch): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low))) ** exponent;
}

/** Percentiles of the pixels that are shown: a few bright sources must not leave the rest black. */
export function percentileStretch(plane: PlaneML, lowPercent: number, highPercent: number): Stretch {
  realNumber('picture', 'low percentile', lowPercent, 0, 100);
  realNumber('picture', 'high percentile', highPercent, lowPercent, 100);
  const shown = plane.filter((value) => Number.isFinite(value)).sort();
  if (shown.length === 0) refuse('picture', 'no pixel of the image has a value', 'image some data first');
  const pick = (percent: number): number => shown[Math.round((percent / 100) * (shown.length - 1))];
  const [low, high] = [pick(lowPercent), pick(highPercent)];
  // a flat image still gets a range, so that it comes out in one colour
  const range = high > low ? { low, high } : { low: low - 1, high: low + 1 };
  return { ...range, exponent: EXPONENT };
}

/** Colour at a fraction 0…1 of the stretch, "#rrggbb". */
export const colourAt = (fraction: number): string => interpolateInferno(fraction);

/**
 * The plane as PNG bytes, north up and east to the left: row 0 of the picture is the northernmost, column 0 the
 * easternmost. Pixels without a value are transparent, but carry the colour of a shown neighbour where they have
 * one, so that a viewer's smoothing does not darken the horizon.
 */
export function rasterPng(plane: PlaneML, pixels: number, stretch: Stretch): Uint8Array {
  const table = colourTable(colourAt);
  const data = new Uint8Array(4 * pixels * pixels);
  for (let y = 0; y < pixels; y++) {
    for (let x = 0; x < pixels; x++) {
      const value = valueOrNeighbour(plane, pixels, pixels - 1 - y, pixels - 1 - x);
      if (Number.isNaN(value)) continue;
      const colour = 3 * Math.round(colourFraction(value, stretch) * (COLOUR_STEPS - 1));
      data.set([table[colour], table[colour + 1], table[colour + 2], 255], 4 * (y * pixels + x));
    }
  }
  return encode({ width: pixels, height: pixels, data, channels: 4 });
}

/** The pixel's own value, or that of the nearest shown pixel at most two away. */
function valueOrNeighbour(plane: PlaneML, pixels: number, row: number, column: number): number {
  const own = plane[row * pixels + column];
  if (!Number.isNaN(own)) return own;
  let nearest = NaN;
  let least = Infinity;
  for (let r = Math.max(0, row - 2); r <= Math.min(pixels - 1, row + 2); r++) {
    for (let c = Math.max(0, column - 2); c <= Math.min(pixels - 1, column + 2); c++) {
      const distance = Math.hypot(r - row, c - column);
      if (distance >= least || Number.isNaN(plane[r * pixels + c])) continue;
      least = distance;
      nearest = plane[r * pixels + c];
    }
  }
  return nearest;
}
