/** Stations without known positions: in a laboratory, or a single dish. */
import { refuse } from '../core/errors.js';
import type { Telescope } from './telescope.js';

/** The option value for this. */
export const NO_TELESCOPE = 'none';

/**
 * All at one place, where the meridian of Greenwich meets the equator: without delays between them, and without a known
 * sky.
 */
export const unplaced = (stations: number, polarisations: 1 | 2): Telescope => ({
  name: 'unplaced',
  title: 'stations at unknown positions',
  site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
  stations: Array.from({ length: stations }, (_, s) => ({
    name: `station${s + 1}`,
    eastM: 0,
    northM: 0,
    upM: 0,
  })),
  polarisations,
  band: { lowHz: 1, highHz: 1e12 },
  recording: { centreFrequencyHz: 1e8, sampleRateHz: 1e6, channels: 64, bits: 8 },
  beamExponent: 0,
});

/** Files keep positions, not their origin: several stations at one place have no known positions. */
export const isUnplaced = ({ stations }: Pick<Telescope, 'stations'>): boolean =>
  stations.length > 1 &&
  stations.every(
    ({ eastM, northM, upM }) =>
      Math.hypot(eastM - stations[0].eastM, northM - stations[0].northM, upM - stations[0].upM) < 1e-3,
  );

/** For computations that need the sky: `what` cannot be done. */
export function refuseUnplaced(where: string, telescope: Pick<Telescope, 'stations'>, what: string): void {
  if (isUnplaced(telescope))
    refuse(
      where,
      ` its stations are all at one place: ${what}`,
      'name their telescope, or a description of it, with telescope: NAME',
    );
}
