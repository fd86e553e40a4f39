/** The normal equations of what all stations share from the sums that full-common.cu makes. */
import type { CommonNormal } from '../common.js';

/** rows : [4][4] complex, pairs likewise, right : 8, squares, numbers, stations. */
export const COMMON_SUMS = 75;
const [PAIRS, RIGHT, SQUARES, NUMBERS, STATIONS] = [32, 64, 72, 73, 74];

export function normalFrom(sums: Float64Array): CommonNormal {
  /** Re of an element times i^turns. */
  const element = (from: number, p: number, q: number, turns: number): number => {
    const [re, im] = [sums[from + 8 * p + 2 * q], sums[from + 8 * p + 2 * q + 1]];
    return [re, -im, -re, im][(turns + 4) % 4];
  };
  const normal = new Float64Array(64);
  const single = new Float64Array(64);
  // u_m = iᵗ e_row,column with m = 4 row + 2 column + t
  for (let m = 0; m < 8; m++) {
    for (let k = 0; k < 8; k++) {
      const [row, column, turns] = [m >> 2, (m >> 1) & 1, m & 1];
      const [otherRow, otherColumn, otherTurns] = [k >> 2, (k >> 1) & 1, k & 1];
      single[8 * m + k] = element(0, 2 * row + otherRow, 2 * otherColumn + column, otherTurns - turns);
      normal[8 * m + k] =
        single[8 * m + k] +
        element(PAIRS, 2 * otherColumn + row, 2 * column + otherRow, turns + otherTurns) +
        element(PAIRS, 2 * column + otherRow, 2 * otherColumn + row, turns + otherTurns);
    }
  }
  const free = sums[NUMBERS] - 8 * sums[STATIONS] + 1;
  return {
    ...{ normal, single },
    right: sums.slice(RIGHT, RIGHT + 8),
    // What is left of large sums may come out below 0 where there is no noise at all.
    variance: Math.max(0, sums[SQUARES]) / Math.max(1, free),
  };
}
