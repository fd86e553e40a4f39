/** Numbers to colours: the range of a palette and its brightness scale. */
import type { PlaneML } from '../core/axes.js';
import { realNumber, refuse } from '../core/errors.js';
import { numberText } from './ticks.js';
import { paletteTable, type Palette } from './palettes.js';

/** The range of brightness that the colours cover, and its scale. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
  /** Colour = fraction of the range to this power: below 1 makes faint features brighter. */
  readonly exponent: number;
}

/** Shows sidelobes and noise beside sources a hundred times as bright. */
const EXPONENT = 0.6;

/** Position of a number on the palette, 0…1; values beyond the range have the colour of its end. */
export function colourFraction(value: number, { low, high, exponent }: Stretch): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low))) ** exponent;
}

/** Percentiles of the shown pixels: a few bright sources must not make the rest black. */
export function percentileStretch(plane: PlaneML, lowPercent: number, highPercent: number): Stretch {
  realNumber('picture', 'low percentile', lowPercent, 0, 100);
  realNumber('picture', 'high percentile', highPercent, lowPercent, 100);
  const shown = plane.filter((value) => Number.isFinite(value)).sort();
  if (shown.length === 0) refuse('picture', 'no pixel of the image has a value', 'image some data first');
  const pick = (percent: number): number => shown[Math.round((percent / 100) * (shown.length - 1))];
  const [low, high] = [pick(lowPercent), pick(highPercent)];
  // a flat image has a range too, so that it has one colour
  const range = high > low ? { low, high } : { low: low - 1, high: low + 1 };
  return { ...range, exponent: EXPONENT };
}

/** If the peak is at most this many times the upper percentile, the range extends to it. */
const WORTH_REACHING = 1.3;

/** The default for images. */
export function imageStretch(plane: PlaneML): Stretch {
  const stretch = percentileStretch(plane, 2, 99.95);
  const peak = plane.reduce((most, value) => (value > most ? value : most), stretch.high);
  return peak - stretch.low <= WORTH_REACHING * (stretch.high - stretch.low)
    ? { ...stretch, high: peak }
    : stretch;
}

/** "linear stretch", "stretch ∝ brightness^0.6". */
export const stretchName = ({ exponent }: Stretch): string =>
  exponent === 1
    ? 'colours linear in brightness'
    : `colours ∝ brightness to the power ${numberText(exponent)}`;

/** Enough steps to be invisible at the low end, where the exponent spreads them most. */
const BRIGHTNESS_STEPS = 16_384;

/** [step][r, g, b] of a palette, steps linear in the numbers. */
export function stretchedTable({ exponent }: Stretch, palette: Palette): Uint8Array {
  const colours = paletteTable(palette);
  const last = colours.length / 3 - 1;
  const table = new Uint8Array(3 * BRIGHTNESS_STEPS);
  for (let step = 0; step < BRIGHTNESS_STEPS; step++) {
    const from = 3 * Math.round((step / (BRIGHTNESS_STEPS - 1)) ** exponent * last);
    table[3 * step] = colours[from];
    table[3 * step + 1] = colours[from + 1];
    table[3 * step + 2] = colours[from + 2];
  }
  return table;
}
