/** Which antennas touch each cell of a box, and with which weight: gridding without adding to memory. */
import type { Touched } from './choice.js';
import type { ImagePlan } from '../../plan.js';

interface CellLists {
  /** starts : [c][cell + 1], where the antennas of each cell begin. */
  readonly starts: Uint32Array;
  readonly stations: Int32Array;
  /** Complex, beside each station. */
  readonly taps: Float64Array;
}

export function cellLists(
  plan: Pick<ImagePlan, 'channels' | 'stations' | 'kernelSize' | 'corners' | 'taps'>,
  { firstRow, firstColumn }: Touched,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): CellLists {
  const { channels, stations: antennas, kernelSize: size, corners, taps: given } = plan;
  const entries = channels * antennas * size * size;
  const starts = new Uint32Array(channels * (rows * columns + 1));
  const stations = new Int32Array(entries);
  const taps = new Float64Array(2 * entries);
  const filled = new Uint32Array(rows * columns);
  /** Of every tap of an antenna, in their order. */
  const cellOf = (at: number, tap: number): number =>
    (corners[2 * at] - firstRow + Math.floor(tap / size)) * columns +
    (corners[2 * at + 1] - firstColumn + (tap % size));
  for (let c = 0; c < channels; c++) {
    const first = c * (rows * columns + 1);
    filled.fill(0);
    for (let s = 0; s < antennas; s++)
      for (let tap = 0; tap < size * size; tap++) filled[cellOf(c * antennas + s, tap)]++;
    starts[first] = c * antennas * size * size;
    for (const [cell, count] of filled.entries()) starts[first + cell + 1] = starts[first + cell] + count;
    filled.set(starts.subarray(first, first + rows * columns));
    for (let s = 0; s < antennas; s++) {
      const at = c * antennas + s;
      for (let tap = 0; tap < size * size; tap++) {
        const entry = filled[cellOf(at, tap)]++;
        stations[entry] = s;
        taps[2 * entry] = given[2 * (at * size * size + tap)];
        taps[2 * entry + 1] = given[2 * (at * size * size + tap) + 1];
      }
    }
  }
  return { starts, stations, taps };
}
