/**
 * From the axes of the sky (ICRS) to those fixed in the Earth (ITRF): IAU 2006 precession with frame bias, nutation,
 * Earth rotation since J2000, and polar motion.
 */
import { polynomial, RADIANS_PER_ARCSECOND, sameAxes, turned, type Rotation } from './angles.js';
import type { EarthClock } from './clock.js';
import { moonNodeRad, type Nutation } from './nutation.js';
import type { EarthOrientation } from './orientation.js';

/** Arcseconds: the Fukushima–Williams angles, frame bias included, and the mean obliquity (Capitaine et al. 2006). */
const GAMMA = [-0.052928, 10.556378, 0.4932044, -0.00031238, -0.000002788, 0.000000026];
const PHI = [84_381.412819, -46.811016, 0.0511268, 0.00053289, -0.00000044, -0.0000000176];
const PSI = [-0.041775, 5038.481484, 1.5584175, -0.00018522, -0.000026452, -0.0000000148];
const OBLIQUITY = [84_381.406, -46.836769, -0.0001831, 0.0020034, -0.000000576, -0.0000000434];
/** Precession terms added to the Earth rotation angle to give mean sidereal time. */
const SIDEREAL = [0.014506, 4612.156534, 1.3915817, -0.00000044, -0.000029956, -0.0000000368];

const angle = (centuries: number, coefficients: readonly number[]): number =>
  polynomial(centuries, coefficients) * RADIANS_PER_ARCSECOND;

/** True equator and equinox of date. */
export function axesOfDate({ centuries }: EarthClock, { longitudeRad, obliquityRad }: Nutation): Rotation {
  const bias = turned(sameAxes, 'z', angle(centuries, GAMMA));
  const ecliptic = turned(bias, 'x', angle(centuries, PHI));
  const equinox = turned(ecliptic, 'z', -(angle(centuries, PSI) + longitudeRad));
  return turned(equinox, 'x', -(angle(centuries, OBLIQUITY) + obliquityRad));
}

const wholeTurns = (turns: number): number => turns - Math.floor(turns);

/** Greenwich apparent sidereal time, radians in [0, 2π). */
export function siderealTimeRad({ centuries, ut1Days, ut1Fraction }: EarthClock, nods: Nutation): number {
  // The Earth rotates once per sidereal day: 1.0027… times per day of UT1.
  const turns =
    wholeTurns(0.779057273264 + 0.00273781191135448 * (ut1Days + ut1Fraction) + ut1Fraction) +
    angle(centuries, SIDEREAL) / (2 * Math.PI);
  const node = moonNodeRad(centuries);
  const equinoxes =
    nods.longitudeRad * Math.cos(angle(centuries, OBLIQUITY)) +
    (0.00264096 * Math.sin(node) + 0.00006352 * Math.sin(2 * node)) * RADIANS_PER_ARCSECOND;
  return wholeTurns(turns + equinoxes / (2 * Math.PI)) * 2 * Math.PI;
}

/** Axes of ITRF, written in ICRS. */
export function axesOfEarth(
  ofDate: Rotation,
  siderealRad: number,
  { poleXRad, poleYRad }: EarthOrientation,
): Rotation {
  const greenwich = turned(ofDate, 'z', siderealRad);
  return turned(turned(greenwich, 'y', -poleXRad), 'x', -poleYRad);
}
