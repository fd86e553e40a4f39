/** Refuses a site from a file that is no place on the Earth, which would make all results meaningless. */
import { refuse } from '../core/errors.js';
import type { Site } from './telescope.js';

/** The centre of a telescope as wide as the Earth is deep below the ground. */
const DEEPEST_M = -6.4e6;
const HIGHEST_M = 1e7;

export function checkedSite(where: string, site: Site): Site {
  const { latitudeDeg, longitudeDeg, heightM } = site;
  if (!(Math.abs(latitudeDeg) <= 90))
    refuse(where, `its site is at latitude ${latitudeDeg}°`, 'correct it: −90 to 90 degrees, north positive');
  if (!(Math.abs(longitudeDeg) <= 360))
    refuse(where, `its site is at longitude ${longitudeDeg}°`, 'correct it: degrees, east positive');
  if (!(heightM >= DEEPEST_M && heightM <= HIGHEST_M))
    refuse(where, `its site is at a height of ${heightM} m`, 'correct it: metres above the ellipsoid');
  return site;
}
