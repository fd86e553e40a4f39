/** Beams by name. A new one is one entry here. */
import { refuse } from '../../core/errors.js';
import type { Telescope } from '../../telescope/telescope.js';
import { checkedDirection } from '../source.js';
import type { ElementBeam } from './element-beam.js';
import { airy, cosine, cosineTaper, dipoleOverGround, tile } from './formulae.js';
import { readBeamTable } from './table.js';

type Named = Pick<ElementBeam, 'title' | 'pointing' | 'voltage' | 'states'>;

/** Bow-ties of the MWA, also in EDA2: heights, spacing and delay steps from the MWA beam software. */
const mwaDipole = dipoleOverGround(0.278);
const named: Readonly<Record<string, Named>> = {
  'mwa-dipole': {
    title: 'a short dipole 0.278 m over a ground screen, as of MWA and EDA2',
    pointing: 'zenith',
    states: 'each',
    voltage: mwaDipole,
  },
  'mwa-tile': {
    title: '4 × 4 MWA dipoles 1.1 m apart, delays in steps of 435 ps, no coupling',
    pointing: 'zenith',
    states: 'each',
    voltage: tile({ side: 4, spacingM: 1.1, stepS: 435e-12, element: mwaDipole }),
  },
  'lwa-dipole': {
    title: 'power cos(zenith angle)^1.6, the mean of X and Y',
    pointing: 'zenith',
    voltage: cosine(0.8),
  },
  skala: {
    title: 'power cos(zenith angle)^2.4, the mean of X and Y, for log-periodic trees',
    pointing: 'zenith',
    voltage: cosine(1.2),
  },
  hera: {
    title: 'Airy pattern of a uniform 14 m dish at the zenith',
    pointing: 'zenith',
    voltage: airy(14),
  },
  meerkat: {
    title: 'cosine-tapered, 57.5′ wide at 1.5 GHz (Mauch et al. 2020)',
    pointing: 'followed',
    voltage: cosineTaper(57.5 / 60, 1.5e9),
  },
};

export const beamWords = (): string =>
  `${Object.keys(named).join(', ')}; cosine:EXPONENT, airy:DIAMETER_M, none; the path of a CSV; @ALT:AZ after a name points it`;

/** A beam by its name, with or without a pointing direction, or a user's own from a file. */
export function findBeam(text: string): ElementBeam {
  if (/\.csv$/i.test(text)) return readBeamTable(text);
  const [word, where] = text.split('@') as [string, string?];
  const beam = formulaOf(word);
  if (where === undefined) return { ...beam, name: text };
  const [altDeg, azDeg, ...more] = where.split(':').map(Number);
  if (more.length > 0 || !Number.isFinite(altDeg) || !Number.isFinite(azDeg))
    refuse('element', `'${where}' is no direction`, 'write ALT:AZ in degrees, like mwa-tile@60:90');
  return { ...beam, name: text, pointing: { directionEnu: checkedDirection('element', altDeg, azDeg) } };
}

function formulaOf(word: string): Named {
  if (Object.hasOwn(named, word)) return named[word];
  const [kind, number] = word.split(':') as [string, string?];
  const value = Number(number);
  if (kind === 'none' && number === undefined)
    return { title: 'none: the whole sky alike', pointing: 'zenith', states: 'nothing', voltage: cosine(0) };
  if (kind === 'cosine' && value >= 0 && value <= 100)
    return {
      title: `power cos(zenith angle)^${2 * value}, the mean of X and Y`,
      pointing: 'zenith',
      voltage: cosine(value),
      ...(value === 0 && { states: 'nothing' }),
    };
  if (kind === 'airy' && value > 0 && value < 1000)
    return { title: `Airy pattern of a uniform ${value} m dish`, pointing: 'followed', voltage: airy(value) };
  return refuse('element', `'${word}' is no beam we know`, `choose ${beamWords()}`);
}

/** The beam given by the telescope's description; undefined if it gives the same response over the whole sky. */
export function beamOfTelescope({ beamExponent }: Telescope): ElementBeam | undefined {
  if (beamExponent === 0) return undefined;
  const name = `cosine:${beamExponent}`;
  return { ...formulaOf(name), name };
}
