/** Galactic longitude and latitude, and J2000. */
import type { SkyPosition } from '../frame.js';

/**
 * The north Galactic pole in J2000 and the longitude of the north celestial pole, by the definition of 1958 as in the
 * Hipparcos catalogue.
 */
const POLE = { raDeg: 192.85948, decDeg: 27.12825 };
const NORTH_POLE_LONGITUDE_DEG = 122.93192;
const RADIANS = Math.PI / 180;

interface GalacticPlace {
  readonly lDeg: number;
  readonly bDeg: number;
}

/**
 * From one pole to another: latitude, and longitude counted from the meridian through both poles. The inverse is the
 * same with longitudes counted in the opposite sense.
 */
function turned(
  fromMeridianDeg: number,
  latitudeDeg: number,
): readonly [fromMeridianDeg: number, latitudeDeg: number] {
  const [angle, latitude, pole] = [fromMeridianDeg, latitudeDeg, POLE.decDeg].map((deg) => deg * RADIANS);
  const sine = Math.sin(pole) * Math.sin(latitude) + Math.cos(pole) * Math.cos(latitude) * Math.cos(angle);
  const other = Math.atan2(
    Math.cos(latitude) * Math.sin(angle),
    Math.cos(pole) * Math.sin(latitude) - Math.sin(pole) * Math.cos(latitude) * Math.cos(angle),
  );
  return [other / RADIANS, Math.asin(Math.max(-1, Math.min(1, sine))) / RADIANS];
}

export function galactic({ raDeg, decDeg }: SkyPosition): GalacticPlace {
  const [angle, bDeg] = turned(raDeg - POLE.raDeg, decDeg);
  return { lDeg: (NORTH_POLE_LONGITUDE_DEG - angle + 720) % 360, bDeg };
}

export function equatorial({ lDeg, bDeg }: GalacticPlace): SkyPosition {
  const [angle, decDeg] = turned(NORTH_POLE_LONGITUDE_DEG - lDeg, bDeg);
  return { raDeg: (POLE.raDeg + angle + 720) % 360, decDeg };
}
