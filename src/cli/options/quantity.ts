/** Quantities with units: 74MHz, 25 kHz, 40ms, 30°. Converted to SI only here. */
import { refuse } from '../../core/errors.js';
import type { ImageField } from '../../image/index.js';
import { angleUnits, frequencyUnits, readQuantity, timeUnits, type Units } from '../../fields/index.js';

/** Whether a word is a unit of any quantity. */
export const isUnit = (word: string): boolean =>
  [frequencyUnits, timeUnits, angleUnits].some((units) => Object.hasOwn(units, word.toLowerCase()));

function quantity(option: string, units: Units, form: string): (text: string) => number {
  return (text) => readQuantity(text, units) ?? refuse(option, `'${text}' is not understood`, form);
}

export const frequency = (option: string) =>
  quantity(option, frequencyUnits, 'write it like 74MHz, 25kHz or plain hertz');
/** Samples per second, above 0. */
export const rate = (option: string) => {
  const hertz = frequency(option);
  return (text: string): number => {
    const value = hertz(text);
    if (!(value > 0 && Number.isFinite(value)))
      refuse(option, `'${text}' is no rate`, 'give more than 0, like 25kHz');
    return value;
  };
};
export const plainNumber = (option: string) => quantity(option, {}, 'give a plain number, like 2.5');

/** In degrees, above 0. */
export const angle = (option: string) => {
  const degrees = quantity(option, angleUnits, 'write it like 30arcsec, 2arcmin or plain degrees');
  return (text: string): number => {
    const value = degrees(text);
    if (!(value > 0)) refuse(option, `'${text}' is no angle`, 'give more than 0, like 2arcmin');
    return value;
  };
};

/** Must be above 0. */
export const duration = (option: string) => {
  const seconds = quantity(option, timeUnits, 'write it like 40ms, 2s or plain seconds');
  return (text: string): number => {
    const value = seconds(text);
    if (!(value > 0)) refuse(option, `'${text}' is no length of time`, 'give more than 0, like 40ms');
    return value;
  };
};

/** The whole sky if no width is given. */
export const fieldOf = (widthDeg: number | undefined): ImageField =>
  widthDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg };
