/**
 * Catalogues, ours or with GLEAM's own columns: a name, a position in degrees, a flux, a spectral index and its
 * curvature.
 */
import { refuse } from '../../core/errors.js';
import { unpolarised } from '../source.js';
import type { Component } from './brightest.js';
import { linesOf } from './component-list.js';
import { fluxOf } from './spectrum.js';

/** Our column names and those of others; fluxes by others' names are at the frequency beside them. */
const names = {
  name: ['name', 'gleam'],
  ra: ['ra_deg', 'raj2000', 'ra'],
  dec: ['dec_deg', 'dej2000', 'decj2000', 'dec'],
  flux: ['flux_jy', 'int_flux_fit_200', 'fintfit200', 'int_flux_wide', 'fintwide'],
  wide: ['int_flux_wide', 'fintwide'],
  frequency: ['frequency_hz'],
  index: ['spectral_index', 'alpha'],
  curvature: ['curvature'],
  major: ['major_arcsec'],
  minor: ['minor_arcsec'],
  angle: ['pa_deg'],
} as const;
type Key = keyof typeof names;
/** GLEAM's fitted and wide-band fluxes are at 200 MHz. */
const GLEAM_HZ = 200e6;
const OWN_HZ = 100e6;
/** The median of GLEAM's fits (Hurley-Walker et al. 2017), for sources that no power law fitted. */
const GLEAM_INDEX = -0.8;

export interface CatalogueColumns {
  readonly path: string;
  /** Index of each column in this file; −1 if absent. */
  readonly place: Readonly<Record<Key, number>>;
  readonly defaultHz: number;
  /** Number of rows of GLEAM without a fit: its flux in the wide band and GLEAM_INDEX are used. */
  unfitted: number;
}

/** By the names in the header, ignoring case. */
export function catalogueColumns(path: string, head: readonly string[]): CatalogueColumns {
  const small = head.map((word) => word.trim().toLowerCase());
  const place = Object.fromEntries(
    Object.entries(names).map(([key, words]) => [
      key,
      words.map((word) => small.indexOf(word)).find((at) => at >= 0) ?? -1,
    ]),
  ) as Record<Key, number>;
  for (const key of ['ra', 'dec', 'flux'] as const)
    if (place[key] < 0) refuse(path, `has no column for ${key}`, `name it one of ${names[key].join(', ')}`);
  return { path, place, defaultHz: small[place.flux] === 'flux_jy' ? OWN_HZ : GLEAM_HZ, unfitted: 0 };
}

/** `cell` is undefined if the row leaves a column empty. */
export function catalogueRow(
  columns: CatalogueColumns,
  where: string,
  cell: (column: number) => string | number | undefined,
): Component {
  const { place, defaultHz } = columns;
  const valueOf = (key: Key): string | number | undefined => (place[key] < 0 ? undefined : cell(place[key]));
  const number = (key: Key, otherwise: number): number => {
    const word = valueOf(key);
    const value = word === undefined ? otherwise : Number(word);
    return Number.isFinite(value) ? value : refuse(where, `its ${key} is '${word ?? ''}'`, 'give a number');
  };
  const isUnfitted = defaultHz === GLEAM_HZ && place.wide >= 0 && valueOf('index') === undefined;
  if (isUnfitted) columns.unfitted++;
  const position = { raDeg: number('ra', Number.NaN), decDeg: number('dec', Number.NaN) };
  if (!(Math.abs(position.decDeg) <= 90))
    refuse(where, `its dec is '${position.decDeg}'`, 'give -90 to 90 degrees');
  const majorDeg = number('major', 0) / 3600;
  const fluxJy = number(isUnfitted ? 'wide' : 'flux', Number.NaN);
  const source = {
    name: String(valueOf('name') ?? '') || where.replace(/^.*, (?=line|row)/, ''),
    position: () => position,
    fluxJy: fluxOf({
      fluxJy,
      referenceHz: number('frequency', defaultHz),
      terms: [number('index', isUnfitted ? GLEAM_INDEX : 0), number('curvature', 0)],
      kind: 'logarithmic',
    }),
    stokes: unpolarised,
    ...(majorDeg > 0 && {
      shape: { majorDeg, minorDeg: number('minor', 0) / 3600, positionAngleDeg: number('angle', 0) },
    }),
  };
  return { source, fluxJy };
}

export const catalogueNotes = ({ unfitted }: CatalogueColumns): readonly string[] =>
  unfitted === 0
    ? []
    : [
        `${unfitted.toLocaleString('en')} of its sources have no fitted spectrum: int_flux_wide and an index of ${GLEAM_INDEX} are used`,
      ];

function wordAt(words: readonly string[], column: number): string | undefined {
  const word = words.at(column);
  return word === '' ? undefined : word;
}

export function* parseCatalogue(text: string, path: string, notes: string[] = []): Generator<Component> {
  let columns: CatalogueColumns | undefined;
  let n = 0;
  for (const line of linesOf(text)) {
    n++;
    if (line.trim() === '' || line.startsWith('#')) continue;
    const words = line.split(',').map((word) => word.trim());
    if (!columns) columns = catalogueColumns(path, words);
    else yield catalogueRow(columns, `${path}, line ${n}`, (column) => wordAt(words, column));
  }
  if (!columns) refuse(path, 'holds no source', 'give one with at least one');
  notes.push(...catalogueNotes(columns));
}
