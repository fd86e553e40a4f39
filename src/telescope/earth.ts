/** Between the site's local axes (ENU) and the axes fixed in the Earth (ECEF, ITRF), on the WGS84 ellipsoid. */
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import type { Site } from './telescope.js';

const SEMI_MAJOR_M = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const ECCENTRICITY_SQUARED = FLATTENING * (2 - FLATTENING);

export function siteToEcef({ latitudeDeg, longitudeDeg, heightM }: Site): Vector3 {
  const latitude = latitudeDeg * RADIANS_PER_DEGREE;
  const longitude = longitudeDeg * RADIANS_PER_DEGREE;
  const normal = SEMI_MAJOR_M / Math.sqrt(1 - ECCENTRICITY_SQUARED * Math.sin(latitude) ** 2);
  return {
    x: (normal + heightM) * Math.cos(latitude) * Math.cos(longitude),
    y: (normal + heightM) * Math.cos(latitude) * Math.sin(longitude),
    z: (normal * (1 - ECCENTRICITY_SQUARED) + heightM) * Math.sin(latitude),
  };
}

/** Each iteration shrinks the latitude's error by 150: ten reach the last bit except at the Earth's centre. */
export function ecefToSite({ x, y, z }: Vector3): Site {
  const axisM = Math.hypot(x, y);
  let latitude = Math.atan2(z, axisM * (1 - ECCENTRICITY_SQUARED));
  let normal = SEMI_MAJOR_M;
  for (let step = 0; step < 10; step++) {
    normal = SEMI_MAJOR_M / Math.sqrt(1 - ECCENTRICITY_SQUARED * Math.sin(latitude) ** 2);
    latitude = Math.atan2(z + ECCENTRICITY_SQUARED * normal * Math.sin(latitude), axisM);
  }
  // Along the ellipsoid's normal; this form is accurate at every latitude.
  const heightM =
    axisM * Math.cos(latitude) + z * Math.sin(latitude) - (SEMI_MAJOR_M * SEMI_MAJOR_M) / normal;
  return {
    latitudeDeg: latitude * DEGREES_PER_RADIAN,
    longitudeDeg: Math.atan2(y, x) * DEGREES_PER_RADIAN,
    heightM,
  };
}

/** A displacement from the site, rotated; lengths are unchanged. */
export function enuToEcef(enu: Vector3, { latitudeDeg, longitudeDeg }: Site): Vector3 {
  const [sinB, cosB] = sinCos(latitudeDeg);
  const [sinL, cosL] = sinCos(longitudeDeg);
  const meridian = -sinB * enu.y + cosB * enu.z;
  return {
    x: -sinL * enu.x + cosL * meridian,
    y: cosL * enu.x + sinL * meridian,
    z: cosB * enu.y + sinB * enu.z,
  };
}

export function ecefToEnu(ecef: Vector3, { latitudeDeg, longitudeDeg }: Site): Vector3 {
  const [sinB, cosB] = sinCos(latitudeDeg);
  const [sinL, cosL] = sinCos(longitudeDeg);
  const meridian = cosL * ecef.x + sinL * ecef.y;
  return {
    x: -sinL * ecef.x + cosL * ecef.y,
    y: -sinB * meridian + cosB * ecef.z,
    z: cosB * meridian + sinB * ecef.z,
  };
}

/**
 * Rotates about the Earth's axis, eastwards by `angleDeg`: from the local meridian's frame to ECEF at that longitude.
 */
export function turnAboutAxis({ x, y, z }: Vector3, angleDeg: number): Vector3 {
  const [sin, cos] = sinCos(angleDeg);
  return { x: cos * x - sin * y, y: sin * x + cos * y, z };
}

const sinCos = (angleDeg: number): readonly [number, number] => [
  Math.sin(angleDeg * RADIANS_PER_DEGREE),
  Math.cos(angleDeg * RADIANS_PER_DEGREE),
];
