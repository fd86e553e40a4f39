/** Catalogues as CSV, ours or GLEAM's own columns: a name, a place in degrees, a flux, a spectral index and its curvature. */
import { refuse } from '../../core/errors.js';
import { unpolarised, type Source } from '../source.js';
import { fluxOf } from './spectrum.js';

/** What we call a column, and what others do; fluxes by others' names are at the frequency beside them. */
const names = {
  name: ['name', 'gleam'],
  ra: ['ra_deg', 'raj2000', 'ra'],
  dec: ['dec_deg', 'dej2000', 'decj2000', 'dec'],
  flux: ['flux_jy', 'int_flux_fit_200', 'fintfit200', 'int_flux_wide', 'fintwide'],
  frequency: ['frequency_hz'],
  index: ['spectral_index', 'alpha'],
  curvature: ['curvature'],
  major: ['major_arcsec'],
  minor: ['minor_arcsec'],
  angle: ['pa_deg'],
} as const;
/** GLEAM's fitted fluxes, and its wide band's, are at 200 MHz. */
const GLEAM_HZ = 200e6;
const OWN_HZ = 100e6;

export function parseCatalogue(text: string, path: string): Source[] {
  const all = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const head = (all.at(0) ?? '').split(',').map((word) => word.trim().toLowerCase());
  const place = Object.fromEntries(
    Object.entries(names).map(([key, words]) => [
      key,
      head.findIndex((word) => words.some((one) => one === word)),
    ]),
  ) as Record<keyof typeof names, number>;
  for (const key of ['ra', 'dec', 'flux'] as const)
    if (place[key] < 0) refuse(path, `has no column for ${key}`, `name it one of ${names[key].join(', ')}`);
  const usualHz = head[place.flux] === 'flux_jy' ? OWN_HZ : GLEAM_HZ;
  return all.slice(1).map((line, n) => {
    const words = line.split(',').map((word) => word.trim());
    const where = `${path}, line ${n + 2}`;
    const number = (key: keyof typeof names, otherwise: number): number => {
      const word = place[key] < 0 ? '' : (words.at(place[key]) ?? '');
      const value = word === '' ? otherwise : Number(word);
      return Number.isFinite(value) ? value : refuse(where, `its ${key} is '${word}'`, 'give a number');
    };
    const position = { raDeg: number('ra', Number.NaN), decDeg: number('dec', Number.NaN) };
    const majorDeg = number('major', 0) / 3600;
    return {
      name: (place.name < 0 ? '' : words[place.name]) || `source ${n + 1}`,
      position: () => position,
      fluxJy: fluxOf({
        fluxJy: number('flux', Number.NaN),
        referenceHz: number('frequency', usualHz),
        terms: [number('index', 0), number('curvature', 0)],
        kind: 'logarithmic',
      }),
      stokes: unpolarised,
      ...(majorDeg > 0 && {
        shape: { majorDeg, minorDeg: number('minor', 0) / 3600, positionAngleDeg: number('angle', 0) },
      }),
    };
  });
}
