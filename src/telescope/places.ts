/** Station positions alone, a CSV that says where on Earth it is: a telescope of which nothing else is known. */
import { basename, extname } from 'node:path';
import { refuse } from '../core/errors.js';
import { parsePositions, siteOfPositions } from './positions.js';
import type { Telescope } from './telescope.js';

export const isPlacesPath = (path: string): boolean => extname(path).toLowerCase() === '.csv';

/** Where people build telescopes; numbers in other units lie elsewhere. */
const [LOWEST_M, HIGHEST_M] = [-500, 10_000];

/** No beam is assumed. */
export function parsePlaces(text: string, path: string, polarisations: 1 | 2): Telescope {
  const site =
    siteOfPositions(text, path) ??
    refuse(
      path,
      'positions in local metres do not say where on Earth they are',
      'write name,x_m,y_m,z_m (ITRF) or name,longitude_deg,latitude_deg,height_m; or name them in a JSON description, which has the site',
    );
  if (!(site.heightM >= LOWEST_M && site.heightM <= HIGHEST_M))
    refuse(
      path,
      `its stations stand ${site.heightM.toFixed(0)} m above the ellipsoid`,
      'write metres and degrees',
    );
  return {
    name: basename(path, extname(path)),
    title: `the stations of ${basename(path)}`,
    site,
    stations: parsePositions(text, path, site),
    polarisations,
    band: { lowHz: 1, highHz: 1e12 },
    recording: { centreFrequencyHz: 1e8, sampleRateHz: 1e6, channels: 64, bits: 8 },
    beamExponent: 0,
  };
}
