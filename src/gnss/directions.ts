/**
 * Directions of satellites: from their orbits, or given by the user: "31@62.5:120", altitude and azimuth in degrees.
 */
import { refuse } from '../core/errors.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import { prns } from './codes.js';
import type { Instant } from '../core/instant.js';
import { skyFrame } from '../sky/frame.js';
import { allSatellites, prnOf } from '../sky/orbits/orbits.js';
import { isKnown } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import type { Cosines } from './solve.js';

/** Satellites above the horizon whose names in the orbits contain their codes. */
export function directionsByOrbits({ site }: Telescope, moment: Instant): Map<number, Cosines> {
  const frame = skyFrame(site, moment);
  const found = new Map<number, Cosines>();
  for (const satellite of allSatellites()) {
    const prn = prnOf(satellite.name);
    if (prn === undefined || !prns.includes(prn) || !isKnown(satellite, frame)) continue;
    if (found.has(prn))
      refuse('orbits', `PRN ${prn} is in the names of two satellites`, 'take out the one that is retired');
    const { x, y, z } = frame.directionEnu(satellite.position(frame));
    if (z > 0) found.set(prn, { l: x, m: y });
  }
  return found;
}

export const cosinesOf = (altitudeDeg: number, azimuthDeg: number): Cosines => {
  const [altitude, azimuth] = [altitudeDeg * RADIANS_PER_DEGREE, azimuthDeg * RADIANS_PER_DEGREE];
  return { l: Math.cos(altitude) * Math.sin(azimuth), m: Math.cos(altitude) * Math.cos(azimuth) };
};

export function directionsOf(texts: readonly string[], where: string): Map<number, Cosines> {
  const found = new Map<number, Cosines>();
  for (const text of texts) {
    const match = /^(?:PRN\s*|G)?(\d{1,2})@([+-]?\d+(?:\.\d*)?):([+-]?\d+(?:\.\d*)?)$/i.exec(text.trim());
    const [prn, altitudeDeg, azimuthDeg] = (match ?? []).slice(1).map(Number);
    if (
      !match ||
      !prns.includes(prn) ||
      !(altitudeDeg > 0 && altitudeDeg <= 90) ||
      Math.abs(azimuthDeg) > 360
    )
      refuse(
        where,
        `'${text}' is no direction of a satellite`,
        'write PRN@ALTITUDE:AZIMUTH, like 31@62.5:120',
      );
    if (found.has(prn)) refuse(where, `PRN ${prn} is given twice`, 'give it once');
    found.set(prn, cosinesOf(altitudeDeg, azimuthDeg));
  }
  return found;
}
