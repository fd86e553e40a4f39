/** Ties the local axes at a site and a moment to the J2000 sky, in both directions. */
import { Observer, Rotation_EQJ_HOR } from 'astronomy-engine';
import type { Instant } from '../core/instant.js';
import { toDate } from '../core/instant.js';
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE } from '../core/units.js';
import { cross, dot, normalise, type Vector3 } from '../core/vector.js';
import type { Site } from '../telescope/telescope.js';

/** Equatorial J2000. */
export interface SkyPosition {
  readonly raDeg: number;
  readonly decDeg: number;
}

/** Unit vectors, written in ENU, of an image's or a uvw system's axes: l east, m north, n towards the centre. */
export interface TangentAxes {
  readonly l: Vector3;
  readonly m: Vector3;
  readonly n: Vector3;
}

export interface SkyFrame {
  readonly site: Site;
  readonly moment: Instant;
  /** Where straight up points. */
  readonly zenith: SkyPosition;
  /** Unit vector towards a position: x east, y north, z up. Negative z is below the horizon. */
  directionEnu(position: SkyPosition): Vector3;
  positionOf(directionEnu: Vector3): SkyPosition;
  /** J2000 east and north at a centre: the axes of every image and every uvw. */
  tangentAxes(centre: SkyPosition): TangentAxes;
}

export const unitVectorJ2000 = ({ raDeg, decDeg }: SkyPosition): Vector3 => {
  const ra = raDeg * RADIANS_PER_DEGREE;
  const dec = decDeg * RADIANS_PER_DEGREE;
  return { x: Math.cos(dec) * Math.cos(ra), y: Math.cos(dec) * Math.sin(ra), z: Math.sin(dec) };
};

export function positionFromJ2000(vector: Vector3): SkyPosition {
  const raDeg = Math.atan2(vector.y, vector.x) * DEGREES_PER_RADIAN;
  const decDeg = Math.atan2(vector.z, Math.hypot(vector.x, vector.y)) * DEGREES_PER_RADIAN;
  return { raDeg: (raDeg + 360) % 360, decDeg };
}

export function skyFrame(site: Site, moment: Instant): SkyFrame {
  const observer = new Observer(site.latitudeDeg, site.longitudeDeg, site.heightM);
  const { rot } = Rotation_EQJ_HOR(toDate(moment), observer);
  // astronomy-engine multiplies rows as rot[from][to]; its horizontal axes are north, west, up.
  const column = (to: number): Vector3 => ({ x: rot[0][to], y: rot[1][to], z: rot[2][to] });
  const north = column(0);
  const west = column(1);
  const up = column(2);
  const toEnu = (j2000: Vector3): Vector3 => ({
    x: -dot(west, j2000),
    y: dot(north, j2000),
    z: dot(up, j2000),
  });
  const toJ2000 = (enu: Vector3): Vector3 => ({
    x: -west.x * enu.x + north.x * enu.y + up.x * enu.z,
    y: -west.y * enu.x + north.y * enu.y + up.y * enu.z,
    z: -west.z * enu.x + north.z * enu.y + up.z * enu.z,
  });
  return {
    site,
    moment,
    zenith: positionFromJ2000(up),
    directionEnu: (position) => toEnu(unitVectorJ2000(position)),
    positionOf: (direction) => positionFromJ2000(toJ2000(direction)),
    tangentAxes: (centre) => {
      const n = unitVectorJ2000(centre);
      // East is where right ascension grows: pole × centre. At a pole itself, along RA + 90°.
      const ra = centre.raDeg * RADIANS_PER_DEGREE;
      const l = { x: -Math.sin(ra), y: Math.cos(ra), z: 0 };
      const m = normalise(cross(n, l));
      return { l: toEnu(l), m: toEnu(m), n: toEnu(n) };
    },
  };
}

export const altitudeDeg = (directionEnu: Vector3): number =>
  Math.atan2(directionEnu.z, Math.hypot(directionEnu.x, directionEnu.y)) * DEGREES_PER_RADIAN;
/** From north through east. */
export const azimuthDeg = (directionEnu: Vector3): number =>
  (Math.atan2(directionEnu.x, directionEnu.y) * DEGREES_PER_RADIAN + 360) % 360;

export function directionFromAltAz(altDeg: number, azDeg: number): Vector3 {
  const alt = altDeg * RADIANS_PER_DEGREE;
  const az = azDeg * RADIANS_PER_DEGREE;
  return { x: Math.cos(alt) * Math.sin(az), y: Math.cos(alt) * Math.cos(az), z: Math.sin(alt) };
}
