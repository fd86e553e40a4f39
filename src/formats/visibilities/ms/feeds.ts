/** X's direction from a set's FEED table: position angles of named receptors, from north through east. */
import { DEGREES_PER_RADIAN } from '../../../core/units.js';
import { mounts, type Mount } from '../../../telescope/telescope.js';
import { orientationOf, type Orientation } from '../header-facts.js';

interface FeedOrientation {
  readonly orientation: Orientation;
  readonly assumed: readonly string[];
}

/** X east and Y north as position angles in radians: X, then Y. */
export const EAST_ANGLES = [Math.PI / 2, 0] as const;

/** Some writers use single precision. */
const CLOSE_RAD = 1e-4;
const isMultiple = (angleRad: number, ofRad: number): boolean =>
  Math.abs(angleRad - ofRad * Math.round(angleRad / ofRad)) < CLOSE_RAD;

/**
 * `lines` are the kinds of feeds: receptor names, then angles. Some writers give each receptor its own angle, others
 * one for both, by which the pair X north, Y east is rotated. Zero for both means that the writer did not know; so do 0
 * and 90° of dipoles on the ground, a default of importers. Writers of the MWA's sets (cotter, Birli) leave that
 * default too, and their X is east–west.
 */
export function orientationOfSet(
  pyuvdataSays: string,
  lines: readonly string[],
  of: { readonly telescope: string; readonly mount?: Mount | undefined },
): FeedOrientation {
  if (orientationOf(pyuvdataSays) !== 'unknown')
    return { orientation: orientationOf(pyuvdataSays), assumed: [] };
  const unknown = (...assumed: string[]): FeedOrientation => ({ orientation: 'unknown', assumed });
  if (lines.length > 1) return unknown('its feeds differ in where X points (FEED)');
  const words = (lines.at(0) ?? '').trim().split(' ');
  const [x, y] = ['X', 'Y'].map((name) => words.indexOf(name));
  if (words.length !== 4) return unknown();
  if (x < 0 || y < 0)
    return unknown(`its FEED table has receptors ${words[0]} and ${words[1]}, and its products are X and Y`);
  const [xRad, yRad] = [Number(words[2 + x]), Number(words[2 + y])];
  if (!Number.isFinite(xRad + yRad)) return unknown();
  const isZero = (angleRad: number): boolean => Math.abs(angleRad) < CLOSE_RAD;
  const isDefault = isZero(xRad) && isZero(yRad - Math.PI / 2);
  if (of.telescope.trim().toUpperCase() === 'MWA' && (isDefault || (isZero(xRad) && isZero(yRad))))
    return {
      orientation: 'east',
      assumed: [
        `its FEED table has X at 0° and Y at ${isDefault ? 90 : 0}°, a default: X is east, as in all sets of the MWA`,
      ],
    };
  if (isDefault && of.mount === 'fixed')
    return unknown(
      'its FEED table has dipoles on the ground with X at 0° (north) and Y at 90°, which is also a default of importers: X and Y stay as they are; `feeds` fixed states that X is east',
    );
  const isPair = isMultiple(xRad - yRad, Math.PI);
  if (isPair && isMultiple(xRad, Math.PI)) return unknown();
  if (!isMultiple(xRad, Math.PI / 2) || !isMultiple(yRad, Math.PI / 2))
    return unknown(
      `by its FEED table X is at ${Number((xRad * DEGREES_PER_RADIAN).toFixed(3))}° from north through east: Q and U are rotated by it`,
    );
  const orientation = isMultiple(xRad, Math.PI) ? 'north' : 'east';
  // Rotation from X to Y: east of north, or north of east.
  const turnRad = isPair ? Math.PI / 2 : yRad - xRad;
  const wantedRad = orientation === 'north' ? Math.PI / 2 : -Math.PI / 2;
  return {
    orientation,
    assumed: isMultiple(turnRad - wantedRad, 2 * Math.PI)
      ? []
      : [
          `by its FEED table X points ${orientation} and Y ${orientation === 'north' ? 'west' : 'south'}: U and V may have the other sign`,
        ],
  };
}

/** casacore's names of mounts; there is none for dipoles, and writers of their data use this one. */
export const mountWords = { altaz: 'ALT-AZ', equatorial: 'EQUATORIAL', fixed: 'FIXED' } as const;

/** From ANTENNA::MOUNT, if all antennas have the same. */
export function mountOfSet(lines: readonly string[]): Mount | undefined {
  const words = new Set(lines.map((word) => word.trim().toUpperCase()));
  return mounts.find((mount) => words.size === 1 && words.has(mountWords[mount]));
}
