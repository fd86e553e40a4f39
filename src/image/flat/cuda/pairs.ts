/**
 * Pairs of stations in the order in which visibilities.cu grids them: by the difference of their places, row by row and
 * along each row, so that contributions to the same cells are summed in registers before they are added to the grid. Of
 * the two orders of a pair the one is used whose difference is in the upper half of the plane: more of them then share
 * cells.
 */
import { baselineCount } from '../../../core/axes.js';
import type { ImagePlan } from '../../plan.js';

interface PairOrder {
  /** pairs : [c][n], i · 2¹⁶ + j in either order of the two. */
  readonly pairs: Uint32Array;
  /** differences : [c][n] (rows, columns) from j's corner to i's; rows never fall, columns rise along equal rows. */
  readonly differences: Int32Array;
}

export function orderPairs({
  channels,
  stations,
  pixels,
  corners,
}: Pick<ImagePlan, 'channels' | 'stations' | 'pixels' | 'corners'>): PairOrder {
  const baselines = baselineCount(stations);
  const pairs = new Uint32Array(channels * baselines);
  const differences = new Int32Array(2 * channels * baselines);
  const keys = new Float64Array(baselines);
  const span = 2 * pixels;
  for (let c = 0; c < channels; c++) {
    for (let i = 0, b = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++, b++) {
        const [to, from] = [2 * (c * stations + i), 2 * (c * stations + j)];
        const rows = corners[to] - corners[from];
        const columns = corners[to + 1] - corners[from + 1];
        const isUpper = rows > 0 || (rows === 0 && columns >= 0);
        const pair = isUpper ? i * stations + j : j * stations + i;
        // difference first, then the pair: exact in a double up to 2²² differences of 46,000 stations
        const difference = Math.abs(rows) * span + (isUpper ? columns : -columns) + pixels;
        keys[b] = difference * stations ** 2 + pair;
      }
    }
    keys.sort();
    for (let n = 0; n < baselines; n++) {
      const at = c * baselines + n;
      const pair = keys[n] % stations ** 2;
      const difference = Math.floor(keys[n] / stations ** 2);
      pairs[at] = Math.floor(pair / stations) * 2 ** 16 + (pair % stations);
      differences[2 * at] = Math.floor(difference / span);
      differences[2 * at + 1] = (difference % span) - pixels;
    }
  }
  return { pairs, differences };
}

/** Rows of the grid that pairs in this order reach with their kernels, from `first` on, wrapped around the grid. */
export function rowsReached(
  { pixels, kernelSize }: Pick<ImagePlan, 'pixels' | 'kernelSize'>,
  { differences }: Pick<PairOrder, 'differences'>,
): { readonly first: number; readonly count: number } {
  let most = 0;
  for (let at = 0; at < differences.length; at += 2) most = Math.max(most, differences[at]);
  const reach = kernelSize - 1;
  return { first: -reach, count: Math.min(pixels, most + 2 * reach + 1) };
}
