/** Converts between the local axes at a site and moment and the sky: the apparent direction of a source, and back. */
import type { Instant } from '../core/instant.js';
import {
  EARTH_SPIN_RAD_PER_S,
  DEGREES_PER_RADIAN,
  RADIANS_PER_DEGREE,
  SPEED_OF_LIGHT_M_PER_S,
} from '../core/units.js';
import { cross, dot, normalise, scale, type Vector3 } from '../core/vector.js';
import { ecefToEnu, enuToEcef, siteToEcef } from '../telescope/earth.js';
import type { Site } from '../telescope/telescope.js';
import { apply, applyInverse } from './earth/angles.js';
import { earthClock } from './earth/clock.js';
import { apparent, unapparent, type Observer } from './earth/light.js';
import { METRES_PER_AU } from './earth/motion.js';
import { earthOrientation } from './earth/orientation.js';
import { axesOfDate, axesOfEarth, siderealTimeRad } from './earth/rotation.js';
import { slowSky } from './earth/slow.js';

/** Equatorial, ICRS (J2000): the catalogue position of a source, free of all observer effects. */
export interface SkyPosition {
  readonly raDeg: number;
  readonly decDeg: number;
}

/** Unit vectors, in ENU, of an image's or a uvw system's axes: l east, m north, n towards the centre. */
export interface TangentAxes {
  readonly l: Vector3;
  readonly m: Vector3;
  readonly n: Vector3;
}

/** Direction cosines along the axes. */
export const cosinesAlong = ({ l, m, n }: TangentAxes, direction: Vector3): Vector3 => ({
  x: dot(direction, l),
  y: dot(direction, m),
  z: dot(direction, n),
});

/**
 * Directions are apparent, as wavefronts cross the array: aberration and the Sun's gravity included, refraction not.
 */
export interface SkyFrame {
  readonly site: Site;
  readonly moment: Instant;
  /** The position at the zenith. */
  readonly zenith: SkyPosition;
  /** The Sun's centre, seen from the site. */
  readonly sun: SkyPosition;
  /** Unit vector towards a position: x east, y north, z up. Negative z is below the horizon. */
  directionEnu(position: SkyPosition): Vector3;
  positionOf(directionEnu: Vector3): SkyPosition;
  /** J2000 east and north as they appear at a centre: the axes of every image and every uvw. */
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

/**
 * Half of the distance over which east and north are differenced: 2″, small against all distortions and large in a
 * double.
 */
const STEP = 1e-5;

/** The sky over a site at a moment: local directions from positions on the sky, and back. */
export function skyFrame(site: Site, moment: Instant): SkyFrame {
  const orientation = earthOrientation(moment);
  const clock = earthClock(moment, orientation.ut1MinusUtcS);
  const { nutation, velocity, sun } = slowSky(clock.ttDays);
  const sidereal = siderealTimeRad(clock, nutation);
  const earth = axesOfEarth(axesOfDate(clock, nutation), sidereal, orientation);
  const place = siteToEcef(site);
  const spin = applyInverse(
    earth,
    scale({ x: -place.y, y: place.x, z: 0 }, EARTH_SPIN_RAD_PER_S / SPEED_OF_LIGHT_M_PER_S),
  );
  const fromCentre = applyInverse(earth, scale(place, 1 / METRES_PER_AU));
  const towardsSun = minus(sun, fromCentre);
  const observer: Observer = {
    velocity: { x: velocity.x + spin.x, y: velocity.y + spin.y, z: velocity.z + spin.z },
    towardsSun: normalise(towardsSun),
    sunAu: Math.sqrt(dot(towardsSun, towardsSun)),
  };
  const seen = (icrs: Vector3): Vector3 => ecefToEnu(apply(earth, apparent(icrs, observer)), site);
  const positionOf = (direction: Vector3): SkyPosition =>
    positionFromJ2000(unapparent(applyInverse(earth, enuToEcef(direction, site)), observer));
  return {
    site,
    moment,
    zenith: positionOf({ x: 0, y: 0, z: 1 }),
    sun: positionFromJ2000(observer.towardsSun),
    directionEnu: (position) => seen(unitVectorJ2000(position)),
    positionOf,
    tangentAxes: (centre) => {
      const towards = unitVectorJ2000(centre);
      const n = seen(towards);
      // East is the direction of rising right ascension: pole × centre. At a pole itself, along RA + 90°.
      const ra = centre.raDeg * RADIANS_PER_DEGREE;
      const north = cross(towards, { x: -Math.sin(ra), y: Math.cos(ra), z: 0 });
      const ahead = seen(normalise(plus(towards, scale(north, STEP))));
      const behind = seen(normalise(plus(towards, scale(north, -STEP))));
      const l = normalise(cross(minus(ahead, behind), n));
      return { l, m: cross(n, l), n };
    },
  };
}

const plus = (a: Vector3, b: Vector3): Vector3 => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z });
const minus = (a: Vector3, b: Vector3): Vector3 => ({ x: a.x - b.x, y: a.y - b.y, z: a.z - b.z });

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
