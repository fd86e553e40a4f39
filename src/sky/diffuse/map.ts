/**
 * A user's own diffuse sky: CSV with the columns temperature_k and ra_deg, dec_deg (J2000) or l_deg, b_deg (Galactic),
 * and frequency_hz and spectral_index if not 408 MHz and −2.55. Positions need no grid but must be dense: a cell of the
 * model has the mean of the positions in it.
 */
import { refuse } from '../../core/errors.js';
import { dot } from '../../core/vector.js';
import { numberTable, readText } from '../read-text.js';
import type { SkyCells } from './cells.js';
import { equatorial } from './equatorial.js';
import type { DiffuseSky } from './diffuse.js';

const COLUMNS = [
  'ra_deg',
  'dec_deg',
  'l_deg',
  'b_deg',
  'temperature_k',
  'frequency_hz',
  'spectral_index',
] as const;
type Column = (typeof COLUMNS)[number];
const USUAL_HZ = 408e6;
const USUAL_INDEX = -2.55;

interface MapPoint {
  readonly raDeg: number;
  readonly decDeg: number;
  readonly kelvin: number;
  readonly atHz: number;
  readonly spectralIndex: number;
}

export function readDiffuseMap(path: string): DiffuseSky {
  const points = parsePoints(readText(path, 'the map of the sky cannot be read'), path);
  return {
    name: path,
    title: `the map ${path}, ${points.length} values`,
    temperaturesK: (cells, frame, frequenciesHz) => {
      const channels = frequenciesHz.length;
      const count = cells.directionsEnu.length;
      const sums = new Float64Array(count * channels);
      const hits = new Float64Array(count);
      for (const { raDeg, decDeg, kelvin, atHz, spectralIndex } of points) {
        const cell = cells.cellOf(frame.directionEnu({ raDeg, decDeg }));
        if (cell < 0) continue;
        hits[cell]++;
        for (let c = 0; c < channels; c++)
          sums[cell * channels + c] += kelvin * (frequenciesHz[c] / atHz) ** spectralIndex;
      }
      const from = filledCells(cells, hits, path);
      return Float64Array.from({ length: count * channels }, (_, at) => {
        const cell = from[Math.floor(at / channels)];
        return sums[cell * channels + (at % channels)] / hits[cell];
      });
    },
  };
}

/** [cell], its own mean if it has values, else the nearest cell with values; a map with larger holes is refused. */
function filledCells({ directionsEnu, cellDeg }: SkyCells, hits: Float64Array, path: string): Int32Array {
  const filled = [...hits.keys()].filter((cell) => hits[cell] > 0);
  const nearEnough = Math.cos((2 * cellDeg * Math.PI) / 180);
  let holes = 0;
  const from = Int32Array.from(hits, (hit, cell) => {
    if (hit > 0) return cell;
    let [nearest, best] = [-1, nearEnough];
    for (const other of filled) {
      const cosine = dot(directionsEnu[cell], directionsEnu[other]);
      if (cosine > best) [nearest, best] = [other, cosine];
    }
    if (nearest < 0) holes++;
    return nearest;
  });
  if (holes > 0)
    refuse(
      path,
      `has no value within two cells of ${holes} of ${hits.length} cells of ${cellDeg.toFixed(1)}° above the horizon`,
      'give a map of the whole sky, with several values a cell',
    );
  return from;
}

function parsePoints(text: string, path: string): MapPoint[] {
  const { names, rows } = numberTable(text, path, (columns) => {
    checkColumns(columns, path);
  });
  const isGalactic = names.includes('l_deg') && names.includes('b_deg');
  return rows.map((values) => {
    const of = (name: Column, otherwise = 0): number =>
      names.includes(name) ? values[names.indexOf(name)] : otherwise;
    const place = isGalactic
      ? equatorial({ lDeg: of('l_deg'), bDeg: of('b_deg') })
      : { raDeg: of('ra_deg'), decDeg: of('dec_deg') };
    return {
      ...place,
      kelvin: of('temperature_k'),
      atHz: of('frequency_hz', USUAL_HZ),
      spectralIndex: of('spectral_index', USUAL_INDEX),
    };
  });
}

function checkColumns(names: readonly string[], path: string): void {
  const strange = names.find((name) => !COLUMNS.some((column) => column === name));
  if (strange !== undefined) refuse(path, `has the column '${strange}'`, `columns are ${COLUMNS.join(', ')}`);
  const has = (...columns: readonly Column[]): boolean => columns.every((name) => names.includes(name));
  if (!has('temperature_k') || has('l_deg', 'b_deg') === has('ra_deg', 'dec_deg'))
    refuse(
      path,
      'does not state where its temperatures are',
      'give temperature_k with ra_deg and dec_deg, or with l_deg and b_deg',
    );
}
