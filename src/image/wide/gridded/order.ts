/**
 * Visibilities in an order in which neighbours share cells: by tiles of the grid, and within each tile by their first
 * planes. In the original order, pair after pair, nearly every row of cells would have to be fetched from memory, which
 * takes ten times as long as adding to it.
 */
import { TILE_CELLS } from '../grid-size.js';
import type { WidePlan } from '../plan.js';
import { rowCount, wavelengthsPerMetre, type WideGeometry } from '../rows.js';
import type { Placer } from './footprint.js';

/** The position of one visibility, in wavelengths; w ≥ 0: a pair with negative w is reversed. */
export interface Measured {
  /** [row][c] */
  at: number;
  uLambda: number;
  vLambda: number;
  wLambda: number;
  /** −1 where the pair is reversed. */
  sign: number;
}

/** More tiles along a side do not improve the order, and take memory. */
const MOST_TILES = 1024;

/** Loads one visibility after the other into `measured`. */
interface Walk {
  readonly measured: Measured;
  readonly count: number;
  readonly load: (k: number) => void;
}

/** Walks over the visibilities for which `isWanted(at, firstPlane)`. */
export function walkInOrder(
  { gridCells, pixelCosine, w }: Pick<WidePlan, 'gridCells' | 'pixelCosine' | 'w'>,
  geometry: WideGeometry,
  placer: Placer,
  isWanted: (at: number, plane: number) => boolean,
): Walk {
  const { uvwM } = geometry;
  const scales = wavelengthsPerMetre(geometry.frequenciesHz);
  const channels = scales.length;
  const count = rowCount(geometry) * channels;
  const measured: Measured = { at: 0, uLambda: 0, vLambda: 0, wLambda: 0, sign: 1 };
  const load = (at: number): void => {
    const row = Math.floor(at / channels);
    const scale = scales[at - row * channels];
    const sign = uvwM[3 * row + 2] < 0 ? -1 : 1;
    measured.at = at;
    measured.sign = sign;
    measured.uLambda = sign * scale * uvwM[3 * row];
    measured.vLambda = sign * scale * uvwM[3 * row + 1];
    measured.wLambda = sign * scale * uvwM[3 * row + 2];
  };
  const side = Math.min(MOST_TILES, gridCells / TILE_CELLS);
  const tileOf = (lambda: number): number => {
    const turns = lambda * pixelCosine;
    return Math.min(side - 1, Math.floor((turns - Math.floor(turns)) * side));
  };
  const tiles = new Uint32Array(count);
  const planes = new Uint16Array(count);
  const wanted = new Uint32Array(count);
  let found = 0;
  for (let at = 0; at < count; at++) {
    load(at);
    const plane = placer.firstPlane(measured.wLambda);
    if (!isWanted(at, plane)) continue;
    planes[at] = plane;
    tiles[at] = tileOf(measured.vLambda) * side + tileOf(measured.uLambda);
    wanted[found++] = at;
  }
  const byPlane = sortedBy(planes, w.planes, wanted.subarray(0, found));
  const order = sortedBy(tiles, side * side, byPlane);
  return {
    measured,
    count: found,
    load: (k) => {
      load(order[k]);
    },
  };
}

/** Counting sort; equal keys keep their order. */
function sortedBy(keys: Uint16Array | Uint32Array, most: number, order: Uint32Array): Uint32Array {
  const starts = new Uint32Array(most + 1);
  for (const at of order) starts[keys[at] + 1]++;
  for (let key = 0; key < most; key++) starts[key + 1] += starts[key];
  const sorted = new Uint32Array(order.length);
  for (const at of order) sorted[starts[keys[at]]++] = at;
  return sorted;
}
