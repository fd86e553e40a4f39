/**
 * Contents of a file in a form for comparison: facts of the header, and numbers with their axes, piece by piece (an
 * integration, a block of samples, a plane), so that files may be larger than memory.
 */
import type { Closable } from '../../core/closing.js';
import type { Instant } from '../../core/instant.js';
import { SECONDS_PER_DAY } from '../../core/units.js';
import type { CardContent, Cards } from '../../formats/index.js';
import type { Telescope } from '../../telescope/telescope.js';

export type FactValue = string | number | boolean;

export interface Axis {
  readonly name: string;
  readonly size: number;
  /** Label of element k; its number by default. */
  readonly label?: (k: number) => string;
}

export type Numbers =
  Float64Array | Float32Array | Int32Array | Int16Array | Int8Array | Uint8Array | Uint16Array;

export interface Part {
  /** The same name in every piece: 'values', 'flags'. */
  readonly name: string;
  /** Slowest axis first. */
  readonly axes: readonly Axis[];
  readonly numbers: Numbers;
  /**
   * How a tolerance applies: `measured` numbers may differ by that fraction of the largest one; `counted` ones too,
   * unless both are whole; others must be equal.
   */
  readonly nature: 'measured' | 'counted' | 'exact';
  /** For files in different formats, which round differently: the allowed difference of equal numbers. */
  readonly acrossFormats?: number;
}

export interface Piece {
  /** 'integration 3'; '' for the whole file. */
  readonly at: string;
  readonly parts: readonly Part[];
}

export type ContentKind = 'visibilities' | 'spectra' | 'voltages' | 'image' | 'gains' | 'beam' | 'picture';

export interface Content extends Closable {
  readonly path: string;
  readonly kind: ContentKind;
  readonly format: string;
  /** By name. */
  readonly facts: ReadonlyMap<string, FactValue>;
  /** Facts and numbers of the format's own header: compared only between files of one format. */
  readonly cards: Cards;
  /** Can be read more than once. */
  pieces(): AsyncIterable<Piece>;
}

/** Nested facts by path: { site: { heightM: 3 } } is 'site.heightM'. Undefined values are left out. */
export function factsOf(nested: Readonly<Record<string, unknown>>): Map<string, FactValue> {
  const facts = new Map<string, FactValue>();
  const walk = (name: string, value: unknown): void => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      facts.set(name, value);
    else if (value === null) facts.set(name, 'null');
    else if (Array.isArray(value) || ArrayBuffer.isView(value))
      Array.from(value as ArrayLike<unknown>).forEach((one, k) => {
        walk(`${name}[${k}]`, one);
      });
    else if (typeof value === 'object')
      for (const [key, one] of Object.entries(value)) walk(name === '' ? key : `${name}.${key}`, one);
  };
  walk('', nested);
  return facts;
}

/** History, creation dates, checksums and file names are not data. */
const leftOut = /(?:^|[: /])(?:HISTORY|DATE|CHECKSUM|DATASUM|FILENAME|history|filename)$/;

/** Removes cards that describe how, when and under which name a file was made. */
export const dataCards = (cards: Iterable<readonly [string, CardContent]>): Cards =>
  new Map([...cards].filter(([name]) => !leftOut.test(name)));

/** Facts of a telescope; station positions are numbers (`positionsPart`). */
export const telescopeFacts = ({ stations, ...others }: Telescope): Record<string, unknown> => ({
  ...others,
  stations: stations.map(({ name, number, diameterM, element }) => ({ name, number, diameterM, element })),
});

/** Positions that two formats round differently count as equal within a micrometre. */
const SAME_PLACE_M = 1e-6;

export const positionsPart = ({ stations }: Telescope): Part => ({
  name: 'positions',
  axes: [
    { name: 'station', size: stations.length, label: (k) => stations[k].name },
    { name: '', size: 3, label: (k) => ['east', 'north', 'up'][k] },
  ],
  numbers: Float64Array.from(stations.flatMap(({ eastM, northM, upM }) => [eastM, northM, upM])),
  nature: 'exact',
  acrossFormats: SAME_PLACE_M,
});

/** Some formats store only the first channel and a step. */
const SAME_FREQUENCY_HZ = 1e-3;

export const frequenciesPart = (frequenciesHz: Float64Array): Part => ({
  name: 'frequencies',
  axes: [{ name: 'channel', size: frequenciesHz.length }],
  numbers: frequenciesHz,
  nature: 'exact',
  acrossFormats: SAME_FREQUENCY_HZ,
});

/** A Julian date in one double, as in UVH5, is accurate to 40 µs. */
const SAME_TIME_S = 50e-6;

/** The day and its seconds separately: one double of both would round to 0.2 µs. */
export function timePart(name: string, time: Instant): Part {
  const day = Math.floor(time.unixSeconds / SECONDS_PER_DAY);
  return {
    name,
    axes: [{ name: '', size: 2, label: (k) => ['day since 1970', 'second of the day'][k] }],
    numbers: Float64Array.of(day, time.unixSeconds - day * SECONDS_PER_DAY + time.fraction),
    nature: 'exact',
    acrossFormats: SAME_TIME_S,
  };
}

/** A duration. */
export const secondsPart = (name: string, seconds: number): Part => ({
  name,
  axes: [],
  numbers: Float64Array.of(seconds),
  nature: 'exact',
  acrossFormats: SAME_TIME_S,
});

export const reIm: Axis = { name: '', size: 2, label: (k) => ['re', 'im'][k] };

/** A part that only some files have. */
export const optionalPart = (
  name: string,
  axes: readonly Axis[],
  numbers: Numbers | undefined,
  nature: Part['nature'],
): Part[] => (numbers ? [{ name, axes, numbers, nature }] : []);

/** Each format has its own cards, which are compared only between files of one format. */
export type Extent = 'with cards' | 'without cards';

export function headerFacts({ facts, cards }: Content, extent: Extent): Map<string, FactValue> {
  const all = new Map(facts);
  if (extent === 'without cards') return all;
  for (const [name, value] of cards)
    if (Array.isArray(value)) all.set(`card ${name}`, value.join('\n'));
    else if (typeof value !== 'object') all.set(`card ${name}`, value);
  return all;
}

/** Columns of tables and arrays of a header. */
export const cardParts = (cards: Content['cards']): Part[] =>
  [...cards].flatMap(([name, value]) =>
    value instanceof Float64Array
      ? [{ name, axes: [{ name: 'number', size: value.length }], numbers: value, nature: 'exact' as const }]
      : [],
  );
