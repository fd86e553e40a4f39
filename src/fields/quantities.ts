/** Quantities with units: 74MHz, 25 kHz, 40ms, 30arcsec; or a plain number in the base unit. */
import { z } from 'zod';

/** Size of each unit in the base unit, by its name in lower case. */
export type Units = Readonly<Record<string, number>>;

export const frequencyUnits: Units = { hz: 1, khz: 1e3, mhz: 1e6, ghz: 1e9 };
export const timeUnits: Units = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
/** In degrees. */
export const angleUnits: Units = {
  deg: 1,
  '°': 1,
  arcmin: 1 / 60,
  "'": 1 / 60,
  '′': 1 / 60,
  arcsec: 1 / 3600,
  '"': 1 / 3600,
  '″': 1 / 3600,
  mas: 1 / 3.6e6,
};

const NUMBER = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?';
const quantityForm = new RegExp(`^(${NUMBER})\\s*([a-zµ°'"′″]*)$`, 'i');

/** In the base unit; undefined if the text is no such quantity. */
export function readQuantity(text: string, units: Units): number | undefined {
  const match = quantityForm.exec(text.trim());
  if (!match) return undefined;
  const unit = match[2].toLowerCase();
  if (unit !== '' && !Object.hasOwn(units, unit)) return undefined;
  return Number(match[1]) * (unit === '' ? 1 : units[unit]);
}

/** How values of a schema are written, for errors and JSON Schema. */
interface Form {
  /** "a time, like 40ms, 2s or plain seconds" */
  readonly words: string;
  /** Pattern of the text for JSON Schema, without flags. */
  readonly pattern?: string;
}
const forms = z.registry<Form>();
export const formOf = (schema: z.core.$ZodType): Form | undefined =>
  forms.get(schema as z.ZodType) ?? undefined;
export function withForm<Schema extends z.ZodType>(schema: Schema, form: Form): Schema {
  forms.add(schema, form);
  return schema;
}

/** Letters of either case, since JSON Schema patterns have no flags. */
const eitherCase = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

function quantity(name: string, words: string, units: Units) {
  const names = Object.keys(units).map(eitherCase).join('|');
  const pattern = `^\\s*${NUMBER}\\s*(?:${names})?\\s*$`;
  const schema = z
    .union([z.number(), withForm(z.string(), { words, pattern })])
    .transform((given, context): number => {
      const value = typeof given === 'number' ? given : readQuantity(given, units);
      if (value !== undefined && Number.isFinite(value)) return value;
      context.addIssue({ code: 'custom', message: `${JSON.stringify(given)} is not ${name}` });
      return z.NEVER;
    });
  return withForm(schema, { words });
}

/** In seconds. */
export const timeS = quantity('a time', 'a time, like 40ms, 2s, 10min or plain seconds', timeUnits);
/** In hertz. */
export const frequencyHz = quantity(
  'a frequency',
  'a frequency, like 74MHz, 25kHz or plain hertz',
  frequencyUnits,
);
/** In degrees. */
export const angleDeg = quantity('an angle', 'an angle, like 30arcsec, 2arcmin or plain degrees', angleUnits);
