/** Brightness to colour: the stretch and the colour map. */
import { interpolateInferno } from 'd3-scale-chromatic';
import type { PlaneML } from '../core/axes.js';
import { realNumber, refuse } from '../core/errors.js';
import { colourTable } from './colours.js';

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

/** So many that none shows at the bottom, where the exponent spreads them most. */
const BRIGHTNESS_STEPS = 16_384;
/** [step][r, g, b], steps linear in brightness. */
export const brightnessTable = ({ exponent }: Stretch): Uint8Array =>
  colourTable((fraction) => colourAt(fraction ** exponent), BRIGHTNESS_STEPS);
