/** One set of colours and letters for all pictures: light on dark, for screens in a control room. */
import type { Colour } from './canvas.js';
import type { Weight } from './letters.js';
import type { TextShape } from './shapes.js';

export const PAPER: Colour = 0x0b0d13;
/** Missing values of an image. */
export const GROUND: Colour = 0x12151d;
export const INK: Colour = 0xe8ecf4;
/** Secondary text. */
export const QUIET: Colour = 0x9aa4b6;
/** Lines behind curves. */
export const FAINT: Colour = 0x343b4a;
/** The sky's grid, and rims. */
export const LINE: Colour = 0x9fb4d8;
/** Sources. */
export const ACCENT: Colour = 0x7fe3ff;
/** Warnings. */
export const WARNING: Colour = 0xff9e64;

const styles = {
  headline: { size: 25, weight: 'bold', colour: INK },
  title: { size: 19, weight: 'bold', colour: INK },
  panel: { size: 15, weight: 'bold', colour: INK },
  body: { size: 15, weight: 'regular', colour: INK },
  remark: { size: 15, weight: 'regular', colour: QUIET },
  label: { size: 14, weight: 'regular', colour: INK },
  tick: { size: 13, weight: 'regular', colour: INK },
  small: { size: 12, weight: 'regular', colour: QUIET },
} as const satisfies Record<string, Required<Pick<TextShape, 'size' | 'weight' | 'colour'>>>;
export type TextStyle = keyof typeof styles;

export const sizeOf = (style: TextStyle): number => styles[style].size;
export const weightOf = (style: TextStyle): Weight => styles[style].weight;

export const text = (
  style: TextStyle,
  words: string,
  place: Omit<TextShape, 'kind' | 'words' | 'size' | 'colour'> & Partial<Pick<TextShape, 'size' | 'colour'>>,
): TextShape => ({ kind: 'text', ...styles[style], words, ...place });
