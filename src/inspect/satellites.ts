/** The satellites over a telescope when its data begin, by the orbits in use. */
import type { Instant } from '../core/instant.js';
import { isUnknown, type OpenedFile } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { satellitesUp, type SatelliteUp } from '../sky/orbits/orbits.js';
import { line } from './reports/text.js';

/** Undefined without orbits, or where place or time are not known; the highest first. */
export function satellitesOver(
  file: OpenedFile,
  start: Instant | undefined,
): readonly SatelliteUp[] | undefined {
  if (!file.telescope || !start || (file.kind !== 'visibilities' && isUnknown(file, 'start')))
    return undefined;
  return satellitesUp(skyFrame(file.telescope.site, start));
}

/** "GPS BIIF-3 (PRN 24): altitude 61.2°, azimuth 213.0°, elements 1.2 days from the data". */
export function satelliteLines(up: readonly SatelliteUp[]): string[] {
  const words = up.map(
    ({ name, altitudeDeg, azimuthDeg, elementsAgeDays }) =>
      `${name}: altitude ${altitudeDeg.toFixed(1)}°, azimuth ${azimuthDeg.toFixed(1)}°, elements ${elementsAgeDays.toFixed(1)} days from the data`,
  );
  return (words.length === 0 ? ['none known to be above the horizon at the start'] : words).map((text, k) =>
    line(k === 0 ? 'satellites' : '', text),
  );
}
