/** A site from a file must be a place on the Earth, or everything computed with it is nonsense. */
import { refuse } from '../core/errors.js';
import type { Site } from './telescope.js';

/** The middle of a telescope as wide as the Earth lies deep below the ground. */
const DEEPEST_M = -6.4e6;
const HIGHEST_M = 1e7;

export function checkedSite(where: string, site: Site): Site {
  const { latitudeDeg, longitudeDeg, heightM } = site;
  if (!(Math.abs(latitudeDeg) <= 90))
    refuse(
      where,
      `its site lies at latitude ${latitudeDeg}°`,
      'correct it: −90 to 90 degrees, north positive',
    );
  if (!(Math.abs(longitudeDeg) <= 360))
    refuse(where, `its site lies at longitude ${longitudeDeg}°`, 'correct it: degrees, east positive');
  if (!(heightM >= DEEPEST_M && heightM <= HIGHEST_M))
    refuse(where, `its site lies at a height of ${heightM} m`, 'correct it: metres above the ellipsoid');
  return site;
}
