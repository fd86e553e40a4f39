/** What visibility files say beside geometry and values, in the words that UVFITS and UVH5 share. */
import type { Station } from '../../telescope/telescope.js';
import type { KeywordValue, UnusedAntenna, VisibilityHeader } from '../format.js';

const knownUnits = ['uncalib', 'Jy', 'K str'];

/** As UVH5 spells them, whatever capitals a file had; undefined where it says nothing. */
export function unitsOf(text: string | undefined): string | undefined {
  const bare = text?.trim() ?? '';
  if (bare === '') return undefined;
  return knownUnits.find((one) => one.toLowerCase() === bare.toLowerCase()) ?? bare;
}

export type Orientation = NonNullable<VisibilityHeader['xOrientation']>;

/** Where X points as a file says it; of what says nothing nobody knows. */
export const orientationOf = (text: string | undefined): Orientation =>
  /^e/i.test(text?.trim() ?? '') ? 'east' : /^n/i.test(text?.trim() ?? '') ? 'north' : 'unknown';

/** Polarisations 0 and 1 in the file's words become ours, where X lies east. */
export const turnedToEast = <
  Product extends { readonly p1: 0 | 1; readonly p2: 0 | 1; readonly label: string },
>(
  product: Product,
  orientation: Orientation | undefined,
): Product =>
  // Right and left are the same whichever way X lies.
  orientation === 'north' && /[XY]/.test(product.label)
    ? { ...product, p1: other(product.p1), p2: other(product.p2) }
    : product;
const other = (p: 0 | 1): 0 | 1 => (p === 0 ? 1 : 0);

/** In the house X lies east once it was told: north was turned on arrival. */
export const orientationHere = (orientation: Orientation): 'east' | 'unknown' =>
  orientation === 'unknown' ? 'unknown' : 'east';

export interface NumberedStation extends Station {
  readonly number: number;
}

/** The telescope's own antennas and those that are not in the data, in the order of the table they came from. */
export function antennaTableOf(
  stations: readonly Station[],
  unused: readonly UnusedAntenna[] = [],
): readonly NumberedStation[] {
  const numbers = stationNumbers(stations);
  const placed = new Map(unused.map((one) => [one.place, one.station]));
  const table: NumberedStation[] = [];
  const taken = new Set(numbers);
  let next = 0;
  for (let place = 0; place < stations.length + unused.length; place++) {
    const absent = placed.get(place);
    if (absent !== undefined) {
      let number = absent.number ?? table.length;
      while (taken.has(number)) number++;
      taken.add(number);
      table.push({ ...absent, number });
    } else {
      table.push({ ...stations[next], number: numbers[next] });
      next++;
    }
  }
  return table;
}

/** The numbers a file gave, where all stations have one of their own; else as they are listed, from 0. */
export function stationNumbers(stations: readonly Station[]): readonly number[] {
  const told = stations.map(({ number }) => number);
  const whole = told.every((number): number is number => number !== undefined);
  return whole && new Set(told).size === told.length ? told : stations.map((_, s) => s);
}

/** Splits a file's table into the stations of its data and the rest, each with its place. */
export function splitTable(
  table: readonly Station[],
  isUsed: (row: number) => boolean,
): { readonly stations: readonly Station[]; readonly unused: readonly UnusedAntenna[] } {
  const stations: Station[] = [];
  const unused: UnusedAntenna[] = [];
  table.forEach((station, place) => {
    if (isUsed(place)) stations.push(station);
    else unused.push({ station, place });
  });
  return { stations, unused };
}

/** Cards of a UVFITS header that have a meaning here or to every reader; all others are someone's own. */
const standardCards =
  /^(?:SIMPLE|BITPIX|NAXIS\d*|EXTEND|BLOCKED|GROUPS|[PG]COUNT|(?:CTYPE|CRVAL|CDELT|CRPIX|CROTA|CUNIT)\d+|(?:PTYPE|PSCAL|PZERO|PUNIT)\d+|BSCALE|BZERO|BUNIT|DATE-OBS|TELESCOP|INSTRUME|OBJECT|OBSRA|OBSDEC|EPOCH|RADESYS[Aa]?|PHSFRAME|CHWIDTH|XORIENT|LAT|LON|ALT|BLTORDER|CHECKSUM|DATASUM)$/;

export function keywordsOf(
  values: ReadonlyMap<string, KeywordValue>,
): Readonly<Record<string, KeywordValue>> {
  return Object.fromEntries([...values].filter(([keyword]) => !standardCards.test(keyword)));
}

/** Names for FITS: eight capitals at most, as pyuvdata cuts them; one that is taken already is left out. */
export function cardsOf(
  keywords: Readonly<Record<string, KeywordValue>> = {},
): readonly (readonly [keyword: string, value: KeywordValue])[] {
  const cards = new Map<string, KeywordValue>();
  for (const [name, value] of Object.entries(keywords)) {
    const keyword = name
      .toUpperCase()
      .replace(/[^A-Z0-9_-]/g, '_')
      .slice(0, 8);
    if (keyword === '' || standardCards.test(keyword) || keyword === 'HISTORY' || keyword === 'COMMENT')
      continue;
    if (!cards.has(keyword)) cards.set(keyword, value);
  }
  return [...cards];
}

/** From 0 to 360 where it is an angle that someone may have meant; else as it is, to be refused by name. */
export const turnedRaDeg = (raDeg: number): number =>
  Math.abs(raDeg) < 361 ? ((raDeg % 360) + 360) % 360 : raDeg;
