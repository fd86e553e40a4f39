/** Whether two files are of the same array: names do not determine it, since many sites have a "stand1". */
import { siteToEcef } from './earth.js';
import type { Telescope } from './telescope.js';

/** Formats round a site's latitude and longitude more than the station positions around it. */
const SITE_M = 1;
const STATION_M = 0.1;

/**
 * The difference of positions in `two` from `one`, in words that follow the name of `one`; undefined if there is none.
 */
export function elsewhere(
  one: Pick<Telescope, 'site' | 'stations'>,
  two: Pick<Telescope, 'site' | 'stations'>,
): string | undefined {
  const [here, there] = [siteToEcef(one.site), siteToEcef(two.site)];
  const sitesM = Math.hypot(here.x - there.x, here.y - there.y, here.z - there.z);
  if (sitesM > SITE_M) return `is of a site ${formatM(sitesM)} away from that of`;
  for (const [s, { name, eastM, northM, upM }] of one.stations.entries()) {
    const other = two.stations.at(s);
    if (!other) continue;
    const apartM = Math.hypot(other.eastM - eastM, other.northM - northM, other.upM - upM);
    if (apartM > STATION_M) return `has ${name} ${formatM(apartM)} away from its position in`;
  }
  return undefined;
}

const formatM = (metres: number): string =>
  metres >= 1000 ? `${(metres / 1000).toFixed(1)} km` : `${metres.toFixed(1)} m`;
