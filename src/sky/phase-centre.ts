/** Where the user points: a source or satellite by name, a position, the Sun, Moon or a planet, or the zenith. */
import { CorellaError, refuse } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';
import type { SkyFrame, SkyPosition } from './frame.js';
import type { Source } from './source.js';
import { findSources, sourceNames } from './sources.js';

export interface PhaseCentre {
  /** As requested, or the source's own name. */
  readonly name: string;
  /** Fixed among the stars, moving among them (the Sun), or fixed over the ground (the zenith). */
  readonly kind: 'fixed' | 'moving' | 'local';
  /** The sky position at the frame's moment. */
  position(frame: SkyFrame): SkyPosition;
  /** Unit vector towards it. */
  directionEnu(frame: SkyFrame): Vector3;
}

/** A centre fixed among the stars. */
export const fixedCentre = (name: string, position: SkyPosition): PhaseCentre => ({
  name,
  kind: 'fixed',
  position: () => position,
  directionEnu: (frame) => frame.directionEnu(position),
});

/** A direction over the ground that does not follow the sky. */
export const localCentre = (name: string, directionEnu: Vector3): PhaseCentre => ({
  name,
  kind: 'local',
  position: (frame) => frame.positionOf(directionEnu),
  directionEnu: () => directionEnu,
});

/** SOURCE, "RA Dec", zenith or Sun; `where` is the option, for errors. */
export function parsePhaseCentre(text: string, where: string): PhaseCentre {
  const asked = text.trim();
  if (/^zenith$/i.test(asked)) return localCentre('zenith', { x: 0, y: 0, z: 1 });
  const found = sourcesCalled(asked);
  // Coordinates begin with a number; so do 3C48, and a satellite's number in the catalogue.
  if (/^[\d.+\-−]/.test(asked) && found.length !== 1) return fixedCentre(asked, parsePosition(asked, where));
  if (found.length === 0)
    refuse(
      where,
      asked === '' ? 'names no place' : `'${asked}' is no source that we know`,
      `choose ${sourceNames().join(', ')}, zenith, or give coordinates like "19h59m28.36s +40d44m02.1s"`,
    );
  const [source] = found;
  return {
    name: source.name,
    kind: source.isMoving ? 'moving' : 'fixed',
    position: (frame) => source.position(frame),
    directionEnu: (frame) => frame.directionEnu(source.position(frame)),
  };
}

/** None where the name is unknown. */
function sourcesCalled(asked: string): readonly Source[] {
  try {
    return findSources([asked]);
  } catch (error) {
    if (error instanceof CorellaError) return [];
    throw error;
  }
}

const FORMS =
  'write RA and Dec like "19h59m28.36s +40d44m02.1s", "19:59:28.36 +40:44:02.1" or in degrees, "299.868 40.734"';

/** RA in hours (12h34m56s, 12:34:56) or degrees, Dec in degrees (±12d34m56s, ±12:34:56, ±12.5); J2000. */
export function parsePosition(text: string, where: string): SkyPosition {
  const [ra, dec] = halves(text) ?? refuse(where, `'${text}' is not two coordinates`, FORMS);
  const raDeg = angleDeg(ra, 'ra') ?? refuse(where, `'${ra}' is not a right ascension`, FORMS);
  const decDeg = angleDeg(dec, 'dec') ?? refuse(where, `'${dec}' is not a declination`, FORMS);
  if (!(raDeg >= 0 && raDeg < 360))
    refuse(where, `a right ascension of '${ra}' is ${raDeg}°`, 'give one from 0 to 360°, or 24h');
  if (!(Math.abs(decDeg) <= 90))
    refuse(where, `a declination of '${dec}' is ${decDeg}°`, 'give one from −90° to 90°');
  return { raDeg, decDeg };
}

/** Splits at a comma, before a sign, or between the only two words. */
function halves(text: string): readonly [string, string] | undefined {
  const plain = text
    .trim()
    .replaceAll('−', '-')
    // "12h 34m 56s" is one number.
    .replaceAll(/([hd°])\s+(?=[\d.]+[m′'])/gi, '$1')
    .replaceAll(/([m′'])\s+(?=[\d.]+[s″"])/gi, '$1');
  const parts = plain.split(/\s*,\s*|\s+(?=[+-])|\s+/).filter((part) => part !== '');
  return parts.length === 2 ? [parts[0], parts[1]] : undefined;
}

/** Whole degrees or hours, minutes, seconds; only the last of them may have decimals. */
const SEXAGESIMAL =
  /^([+-]?)(\d+)(?:(h|d|°|:)(?:(\d{1,2})(?:[m′':](?:(\d{1,2}(?:\.\d*)?)[s″"]?)?)?|(\d{1,2}\.\d*)[m′']?)?)$/i;

const DECIMAL = /^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:d|deg|°)?$/i;

function angleDeg(text: string, axis: 'ra' | 'dec'): number | undefined {
  const decimal = DECIMAL.exec(text);
  if (decimal) return Number(decimal[1]);
  const match = SEXAGESIMAL.exec(text);
  if (!match) return undefined;
  const [, sign, whole, unit] = match;
  const minutes = Number(match.at(4) ?? match.at(6) ?? 0);
  const seconds = Number(match.at(5) ?? 0);
  if (minutes >= 60 || seconds >= 60) return undefined;
  const hours = unit.toLowerCase() === 'h' || (unit === ':' && axis === 'ra');
  if (hours && axis === 'dec') return undefined;
  const size = Number(whole) + minutes / 60 + seconds / 3600;
  return (sign === '-' ? -1 : 1) * size * (hours ? 15 : 1);
}
