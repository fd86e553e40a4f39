/** Round numbers along an axis, and their text. */
import { withMinus } from '../core/units.js';

export type Range = readonly [least: number, most: number];

/** About this many numbers in a range, 1, 2 or 5 times a power of ten apart. */
export function ticks([least, most]: Range, about: number): number[] {
  const step = roundStep((most - least) / about);
  const found: number[] = [];
  for (let k = Math.ceil(least / step - 1e-9); k * step <= most + 1e-9 * step; k++) found.push(k * step);
  return found;
}

/** The smallest of 1, 2, 5, 10, 20, … (or a tenth of them, …) that is not below the limit. */
export function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= atLeast * (1 - 1e-9)) ?? 10);
}

/** Beyond these, numbers are written with a power of ten. */
const LARGEST_PLAIN = 1e6;
const SMALLEST_PLAIN = 1e-4;

/** All with the number of decimals that their step needs: 59.8, 60.0, 60.2. */
export function tickTexts(values: readonly number[]): string[] {
  const largest = Math.max(...values.map(Math.abs));
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 0;
  if (largest >= LARGEST_PLAIN || (largest > 0 && largest < SMALLEST_PLAIN))
    return values.map((value) => numberText(value));
  const decimals = decimalsOf(step > 0 ? step : largest);
  return values.map((value) => withMinus((Math.abs(value) < step * 1e-6 ? 0 : value).toFixed(decimals)));
}

/** Decimals that show a number to six digits. */
function decimalsOf(value: number): number {
  const text = String(Number(value.toPrecision(6)));
  const [mantissa, exponent = '0'] = text.split('e');
  const point = mantissa.indexOf('.');
  return Math.max(0, (point < 0 ? 0 : mantissa.length - 1 - point) - Number(exponent));
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A single number for users: 4512, 0.0312, 1.2×10⁷. */
export function numberText(value: number, digits = 6): string {
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  if (size === 0 || (size < LARGEST_PLAIN && size >= SMALLEST_PLAIN)) return withMinus(rounded);
  const [mantissa, exponent] = rounded.toExponential().split('e');
  const power = exponent
    .replace('+', '')
    .replace('-', '⁻')
    .replace(/\d/g, (digit) => superscripts[Number(digit)]);
  return `${mantissa === '1' ? '' : `${withMinus(mantissa)}×`}10${power}`;
}
