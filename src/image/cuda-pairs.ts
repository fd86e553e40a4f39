/**
 * Pairs of stations in the order in which visibilities.cu grids them: those whose kernels fall on the same cells together,
 * so that their sums meet in registers and touch the grid once. Of the two orders of a pair the one is taken whose
 * difference lies in the upper half of the plane: twice as many then meet.
 */
import { baselineCount } from '../core/axes.js';
import type { ImagePlan } from './plan.js';

/** A warp takes so many pairs at most: enough to spare the grid, few enough to keep all warps busy. */
export const MOST_PAIRS_PER_CHUNK = 32;

export interface PairChunks {
  /** pairs : [c][b], i · 2¹⁶ + j in either order, those of equal corner difference side by side. */
  readonly pairs: Uint32Array;
  /** chunks : [chunk] (first, count): pairs of one channel with one corner difference. */
  readonly chunks: Int32Array;
  /** starts : [c + 1], the first chunk of each channel. */
  readonly starts: Int32Array;
  /** The most chunks of any channel. */
  readonly most: number;
}

export function pairChunks({
  channels,
  stations,
  pixels,
  corners,
}: Pick<ImagePlan, 'channels' | 'stations' | 'pixels' | 'corners'>): PairChunks {
  const baselines = baselineCount(stations);
  const pairs = new Uint32Array(channels * baselines);
  const chunks: number[] = [];
  const starts = new Int32Array(channels + 1);
  const keys = new Float64Array(baselines);
  const differenceOf = (key: number): number => Math.floor(key / stations ** 2);
  let most = 0;
  for (let c = 0; c < channels; c++) {
    for (let i = 0, b = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++, b++) {
        const [to, from] = [2 * (c * stations + i), 2 * (c * stations + j)];
        const row = corners[to] - corners[from];
        const column = corners[to + 1] - corners[from + 1];
        const isUpper = row > 0 || (row === 0 && column >= 0);
        const pair = isUpper ? i * stations + j : j * stations + i;
        // difference first, then the pair: exact in a double up to 2²² differences of 46,000 stations
        keys[b] = (Math.abs(row) * 2 * pixels + (isUpper ? column : -column) + pixels) * stations ** 2 + pair;
      }
    }
    keys.sort();
    let first = 0;
    for (let b = 0; b < baselines; b++) {
      const pair = keys[b] % stations ** 2;
      pairs[c * baselines + b] = Math.floor(pair / stations) * 2 ** 16 + (pair % stations);
      const isLast = b + 1 === baselines;
      const isNextElsewhere = isLast || differenceOf(keys[b + 1]) !== differenceOf(keys[b]);
      if (isNextElsewhere || b + 1 - first === MOST_PAIRS_PER_CHUNK) {
        chunks.push(first, b + 1 - first);
        first = b + 1;
      }
    }
    starts[c + 1] = chunks.length / 2;
    most = Math.max(most, starts[c + 1] - starts[c]);
  }
  return { pairs, chunks: Int32Array.from(chunks), starts, most };
}
