/** Metadata of visibility files besides geometry and values, in terms common to UVFITS and UVH5. */
import type { Station } from '../../telescope/telescope.js';
import type { KeywordValue, UnusedAntenna, VisibilityHeader } from '../format.js';

const knownUnits = ['uncalib', 'Jy', 'K str'];

/** In UVH5's spelling, whatever case the file used; undefined if absent. */
export function unitsOf(text: string | undefined): string | undefined {
  const bare = text?.trim() ?? '';
  if (bare === '') return undefined;
  return knownUnits.find((one) => one.toLowerCase() === bare.toLowerCase()) ?? bare;
}

export type Orientation = NonNullable<VisibilityHeader['xOrientation']>;

/** X's direction as stated by the file; unknown if absent. */
export const orientationOf = (text: string | undefined): Orientation =>
  /^e/i.test(text?.trim() ?? '') ? 'east' : /^n/i.test(text?.trim() ?? '') ? 'north' : 'unknown';

/** Converts polarisations 0 and 1 from the file's order to ours, where X is east. */
export const turnedToEast = <
  Product extends { readonly p1: 0 | 1; readonly p2: 0 | 1; readonly label: string },
>(
  product: Product,
  orientation: Orientation | undefined,
): Product =>
  // Right and left do not depend on X's direction.
  orientation === 'north' && /[XY]/.test(product.label)
    ? { ...product, p1: other(product.p1), p2: other(product.p2) }
    : product;
/** Every exchange is reported. */
export const exchangeLines = (
  products: readonly { readonly label: string }[],
  orientation: Orientation | undefined,
): readonly string[] =>
  orientation === 'north' && products.some(({ label }) => /[XY]/.test(label)) ? [EXCHANGED] : [];

export const EXCHANGED = 'its X points north: X and Y are exchanged, so that X is east';

const other = (p: 0 | 1): 0 | 1 => (p === 0 ? 1 : 0);

/** In our data X is east once known: north was converted on reading. */
export const orientationHere = (orientation: Orientation): 'east' | 'unknown' =>
  orientation === 'unknown' ? 'unknown' : 'east';

export interface NumberedStation extends Station {
  readonly number: number;
}

/** The telescope's own antennas and those without data, in the order of their original table. */
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

/** The numbers from the file, if all stations have one; otherwise the index, from 0. */
export function stationNumbers(stations: readonly Station[]): readonly number[] {
  const numbers = stations.map(({ number }) => number);
  const whole = numbers.every((number): number is number => number !== undefined);
  return whole && new Set(numbers).size === numbers.length ? numbers : stations.map((_, s) => s);
}

/** Splits a file's table into the stations with data and the rest, each with its row. */
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

/** Rows per time: the maximum, and whether all times have as many. */
export function rowsPerTime(counts: readonly number[]): NonNullable<VisibilityHeader['rows']> {
  const most = counts.reduce((x, y) => Math.max(x, y), 0);
  return { most, times: counts.every((count) => count === most) ? 'alike' : 'different' };
}

/** UVFITS cards with a meaning here or for all readers; all others are extra keywords. */
const standardCards =
  /^(?:SIMPLE|BITPIX|NAXIS\d*|EXTEND|BLOCKED|GROUPS|[PG]COUNT|(?:CTYPE|CRVAL|CDELT|CRPIX|CROTA|CUNIT)\d+|(?:PTYPE|PSCAL|PZERO|PUNIT)\d+|BSCALE|BZERO|BUNIT|DATE-OBS|TELESCOP|INSTRUME|OBJECT|OBSRA|OBSDEC|EPOCH|RADESYS[Aa]?|PHSFRAME|CHWIDTH|XORIENT|LAT|LON|ALT|BLTORDER|CHECKSUM|DATASUM)$/;

export function keywordsOf(
  values: ReadonlyMap<string, KeywordValue>,
): Readonly<Record<string, KeywordValue>> {
  return Object.fromEntries([...values].filter(([keyword]) => !standardCards.test(keyword)));
}

/** FITS names: at most eight upper-case characters, as pyuvdata truncates them; a name already in use is omitted. */
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

/** From 0 to 360 for a plausible angle; otherwise unchanged, to be refused by name. */
export const turnedRaDeg = (raDeg: number): number =>
  Math.abs(raDeg) < 361 ? ((raDeg % 360) + 360) % 360 : raDeg;
