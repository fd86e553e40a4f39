import { wholeNumber } from '../core/errors.js';
import type { Telescope } from './telescope.js';

/** A smaller telescope: `count` stations evenly spread over the list, always including the first. */
export function selectStations(telescope: Telescope, count: number): Telescope {
  const total = telescope.stations.length;
  wholeNumber(telescope.name, 'stations', count, 1, total);
  const stations = Array.from(
    { length: count },
    (_, i) => telescope.stations[Math.floor((i * total) / count)],
  );
  return { ...telescope, stations };
}
