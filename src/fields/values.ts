/** Values that fields of several parts share: counts, paths, times, lists of words. */
import { z } from 'zod';
import { parseInstant } from '../core/instant.js';
import { withForm } from './quantities.js';

export const whole = withForm(z.int(), { words: 'a whole number' });
export const real = withForm(z.number(), { words: 'a number' });
export const flagged = withForm(z.boolean(), { words: 'true or false' });
export const oneOrTwo = z.union([z.literal(1), z.literal(2)]);

/** A name, or other words that the plan checks. */
export const words = (what: string) =>
  withForm(
    z.string().refine((value) => value.trim() !== '', 'is empty'),
    { words: what },
  );

/** An input file. */
export const inputPath = words('the path of a file');
/** An output file: not a folder. */
export const outputPath = withForm(
  inputPath.refine((value) => !/(?:^|\/)\.{0,2}$/.test(value), 'is a folder'),
  { words: 'the path of a file to write' },
);
/** Path of a product; null if it is shown or returned instead of written. */
export const productPath = outputPath.nullable();

export const place = words('a source, "RA Dec", Sun or zenith');

const isInstant = (value: string): boolean => {
  try {
    parseInstant(value);
    return true;
  } catch {
    return false;
  }
};
const UTC_WORDS = 'a UTC time, like 2026-06-21T04:00:00Z';
/** Kept as text: an observation is plain data. */
export const utc = withForm(z.string().refine(isInstant, 'is not a UTC time'), { words: UTC_WORDS });

/** FROM..TO, either of which may be omitted. */
const timeSpan = withForm(
  z.string().refine((value) => {
    const ends = value.split('..').map((end) => end.trim());
    return (
      ends.length === 2 && ends.some((end) => end !== '') && ends.every((end) => end === '' || isInstant(end))
    );
  }, 'is not a time range'),
  { words: 'FROM..TO in UTC, like 2026-06-21T04:00:00Z..2026-06-21T05:00:00Z; either may be left out' },
);

const isNumber = (text: string): boolean => text === '' || Number.isFinite(Number(text));
/** LOW..HIGH of brightness, either of which may be omitted. */
export const brightnessRange = withForm(
  z.string().refine((value) => {
    const ends = value.split('..').map((end) => end.trim());
    if (ends.length !== 2 || !ends.some((end) => end !== '') || !ends.every(isNumber)) return false;
    return ends.includes('') || Number(ends[0]) < Number(ends[1]);
  }, 'is not a range of brightness'),
  { words: 'LOW..HIGH in the unit of the image, like 0..150; either may be left out' },
);

const FREQUENCY = '\\d+\\.?\\d*(?:[eE][+-]?\\d+)?\\s*[kKmMgG]?[hH][zZ]';
const CHANNELS = `^\\s*(?:\\d+(?:-\\d+)?|${FREQUENCY}\\s*\\.\\.\\s*${FREQUENCY})\\s*$`;
const CHANNELS_WORDS = 'a channel or a range, like 30, 10-20 or 151MHz..152MHz';
const writtenWord = (what: string, pattern?: RegExp) =>
  withForm(
    z
      .union([z.int().nonnegative(), z.string()])
      .transform((given) => String(given).trim())
      .refine((value) => value !== '' && pattern?.test(value) !== false, `is not ${what}`),
    { words: what, pattern: pattern?.source },
  );
const channelWord = writtenWord(CHANNELS_WORDS, new RegExp(CHANNELS));

/** A list of words; numbers are words too, since YAML reads 12 as one. A single word is a list of one. */
const listOf = <Word extends z.ZodType<string, string | number>>(word: Word, what: string) =>
  withForm(z.union([z.array(word), word.transform((one) => [one])]), { words: what });

/** Channels by number from 0, or by frequency. */
export const channelList = listOf(channelWord, 'a list of channels, like [30, 10-20, 151MHz..152MHz]');
/** One range of channels, both ends included. */
export const channelRange = withForm(
  z.string().refine((value) => {
    const range = /^\s*(\d+)\s*-\s*(\d+)\s*$/.exec(value);
    return range !== null && Number(range[1]) <= Number(range[2]);
  }, 'is not a range of channels'),
  { words: 'a range of channels, like 0-65' },
);
export const inputList = listOf(
  writtenWord('an input or a station, like 12, 30-33, stand17 or "stand17:Y"'),
  'a list of inputs and stations, like [12, 30-33, stand17, "stand17:Y"]',
);
export const baselineList = listOf(
  writtenWord('a pair of stations, like stand1&stand17', /^[^&]+&[^&]+$/),
  'a list of pairs of stations, like [stand1&stand17]',
);
/** The sky round sources; the plan reads the radius. */
export const discList = listOf(
  writtenWord('a source and a radius, like Sun@2deg', /^[^@]+@[^@]+$/),
  'a list of sources with radii, like [Sun@2deg, satellites@30arcmin]',
);
/** Names of antennas, or of other things. */
export const nameList = listOf(writtenWord('a name'), 'a list of names');
export const timeList = listOf(timeSpan, 'a list of time ranges, FROM..TO in UTC');
/** Paths of one or several files that are read as one. */
export const pathList = withForm(z.union([inputPath, z.array(inputPath).min(1)]), {
  words: 'the path of a file, or a list of them',
});
export const wholeList = withForm(z.array(z.int().nonnegative()).min(1), {
  words: 'a list of whole numbers, like [0, 1]',
});
