/** Moving phase centres of UVH5: a table of positions to follow, or a point fixed to the ground. */
import { refuse } from '../../../core/errors.js';
import { addSeconds, fromJulianDate, secondsBetween, type Instant } from '../../../core/instant.js';
import { DEGREES_PER_RADIAN, withMinus } from '../../../core/units.js';
import { dot, type Vector3 } from '../../../core/vector.js';
import {
  directionFromAltAz,
  positionFromJ2000,
  skyFrame,
  unitVectorJ2000,
  type SkyPosition,
} from '../../../sky/frame.js';
import type { Site } from '../../../telescope/telescope.js';
import type { Hdf5File } from '../../hdf5/read.js';

/** Times of the data, first and last. */
export interface Span {
  readonly first: Instant;
  readonly last: Instant;
}

interface MovingPlace {
  readonly phaseCentre: SkyPosition;
  readonly assumed: readonly string[];
}

const middleOf = ({ first, last }: Span): Instant => addSeconds(first, secondsBetween(first, last) / 2);

const column = (file: Hdf5File, name: string): readonly number[] =>
  file.has(name) ? [...file.numbers(name)] : [];

/** The position in the table at `entry`, for the middle of the data. */
export function followedPlace(file: Hdf5File, entry: string, name: string, span: Span): MovingPlace {
  const [lon, lat, days] = ['cat_lon', 'cat_lat', 'cat_times'].map((one) => column(file, `${entry}/${one}`));
  if (lon.length === 0 || lat.length !== lon.length || days.length !== lon.length)
    refuse(
      file.path,
      `follows ${name}, which moves, and has ${lon.length}, ${lat.length} and ${days.length} of its longitudes, latitudes and times`,
      'phase it to a place in ICRS (pyuvdata: phase)',
    );
  const middle = middleOf(span);
  const rows = days
    .map((day, k) => {
      const midnight = Math.floor(day - 0.5) + 0.5;
      return {
        // Relative to the middle of the data.
        afterS: secondsBetween(middle, fromJulianDate(midnight, day - midnight)),
        towards: unitVectorJ2000({
          raDeg: lon[k] * DEGREES_PER_RADIAN,
          decDeg: lat[k] * DEGREES_PER_RADIAN,
        }),
      };
    })
    .sort((x, y) => x.afterS - y.afterS);
  const from =
    rows[
      Math.max(
        0,
        Math.min(
          rows.length - 2,
          rows.findLastIndex((row) => row.afterS <= 0),
        ),
      )
    ];
  const to = rows[Math.min(rows.length - 1, rows.indexOf(from) + 1)];
  const stepS = to.afterS - from.afterS;
  // A table that ends up to one step before the data is extrapolated.
  if (!(Math.abs(stepS) < 1e7) || (rows.length > 1 && (from.afterS > stepS || to.afterS < -stepS)))
    refuse(
      file.path,
      `follows ${name}, which moves, and its table of places ends before or begins after the data`,
      'phase it to a place in ICRS (pyuvdata: phase)',
    );
  const at = (afterS: number): Vector3 => {
    const share = stepS > 0 ? (afterS - from.afterS) / stepS : 0;
    return {
      x: from.towards.x + share * (to.towards.x - from.towards.x),
      y: from.towards.y + share * (to.towards.y - from.towards.y),
      z: from.towards.z + share * (to.towards.z - from.towards.z),
    };
  };
  const phaseCentre = positionFromJ2000(at(0));
  const halfS = secondsBetween(span.first, span.last) / 2;
  const goes = angleArcsec(at(-halfS), at(halfS));
  return {
    phaseCentre,
    assumed: [
      `it follows ${name}, which moves: ${inWords(phaseCentre)}, its place ${
        rows.length > 1
          ? `at the middle of the data, is taken (it goes ${goes.toPrecision(2)}″ from the first to the last)`
          : 'of the one time that is given, is used'
      }`,
    ],
  };
}

/** The position of a ground-fixed direction at the middle of the data. */
export function groundPlace(file: Hdf5File, entry: string, site: Site, span: Span): MovingPlace {
  const [azimuth] = column(file, `${entry}/cat_lon`).concat(0);
  const [altitude] = column(file, `${entry}/cat_lat`).concat(Math.PI / 2);
  const [altDeg, azDeg] = [altitude * DEGREES_PER_RADIAN, azimuth * DEGREES_PER_RADIAN];
  if (!(altDeg <= 90.001 && altDeg >= -90 && Math.abs(azDeg) <= 361))
    refuse(
      file.path,
      `stays at altitude ${altDeg}°, azimuth ${azDeg}°`,
      'correct cat_lat and cat_lon of its catalogue',
    );
  const phaseCentre = skyFrame(site, middleOf(span)).positionOf(directionFromAltAz(altDeg, azDeg));
  return {
    phaseCentre,
    assumed: [
      `it stays at altitude ${altDeg.toFixed(2)}°, azimuth ${azDeg.toFixed(2)}°, while the sky goes by: ${inWords(phaseCentre)}, which is there at the middle of the data, is taken`,
    ],
  };
}

/** A telescope fixed to the ground observes a drift scan, whatever its name in the file. */
export function driftName(name: string, otherwise: 'zenith' | 'drift scan'): string {
  const bare = name.trim();
  if (/^(zenith|unprojected|unknown|)$/i.test(bare)) return otherwise;
  return /^drift/i.test(bare) ? bare : `drift scan ${bare}`;
}

const inWords = ({ raDeg, decDeg }: SkyPosition): string =>
  `${withMinus(raDeg.toFixed(4))}° ${withMinus(decDeg.toFixed(4))}°`;

function angleArcsec(one: Vector3, other: Vector3): number {
  const apart = { x: one.x - other.x, y: one.y - other.y, z: one.z - other.z };
  return 2 * Math.asin(Math.min(1, Math.sqrt(dot(apart, apart)) / 2)) * DEGREES_PER_RADIAN * 3600;
}
