/** Reads and writes the sums of powers beside a block on a card (powers.cuh), for tests. */
import type { SpectraCAT, SpectraType } from '../../../core/axes.js';
import { cutEvenly, SUMMED_AT_ONCE } from '../../../core/windows.js';
import { powerOf } from '../../cpu/powers.testing.js';
import type { PowerCells } from '../power-cells.js';

interface Rows {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
}

/** S2 is above so many bits of a word of integers. */
const S1_BITS = 24n;

/** sums : [w][c][a][S1, S2] of spectra : [c][a][t], one sample after the other; of windows [edges[w], edges[w + 1]). */
export function plainSums(
  spectra: SpectraCAT,
  { type, channels, inputs }: Rows,
  edges: Int32Array,
): Float64Array {
  const [rows, windows] = [channels * inputs, edges.length - 1];
  const samples = edges[windows];
  const sums = new Float64Array(2 * windows * rows);
  for (let w = 0; w < windows; w++) {
    for (let row = 0; row < rows; row++) {
      const to = 2 * (w * rows + row);
      for (let t = edges[w]; t < edges[w + 1]; t++) {
        const power = powerOf[type](spectra, row * samples + t);
        sums[to] += power;
        sums[to + 1] += power * power;
      }
    }
  }
  return sums;
}

/** The same from words : [cell][a][place]; places : [place], the channel of each. */
export function sumsOfCells(
  words: BigUint64Array,
  { type, channels, inputs }: Rows,
  { perWindow }: Pick<PowerCells, 'perWindow'>,
  places: Int32Array,
): Float64Array {
  const floats = new Float32Array(words.buffer);
  const sums = new Float64Array((2 * words.length) / perWindow);
  words.forEach((word, at) => {
    const [cell, input] = [Math.floor(at / channels / inputs), Math.floor(at / channels) % inputs];
    const to = 2 * ((Math.floor(cell / perWindow) * channels + places[at % channels]) * inputs + input);
    sums[to] += type === 'cf32' ? floats[2 * at] : Number(word & ((1n << S1_BITS) - 1n));
    sums[to + 1] += type === 'cf32' ? floats[2 * at + 1] : Number(word >> S1_BITS);
  });
  return sums;
}

/** The reverse: words of so many cells. Floats also in one range each, since only their sum matters. */
export function cellsOfSpectra(
  spectra: SpectraCAT,
  rows: Rows,
  samples: number,
  cells: number,
  places: Int32Array,
): BigUint64Array {
  const { type, channels, inputs } = rows;
  const sums = plainSums(spectra, rows, cutEvenly(samples, cells, SUMMED_AT_ONCE));
  const words = new BigUint64Array(cells * channels * inputs);
  const floats = new Float32Array(words.buffer);
  for (let at = 0; at < words.length; at++) {
    const [cell, input] = [Math.floor(at / channels / inputs), Math.floor(at / channels) % inputs];
    const from = 2 * ((cell * channels + places[at % channels]) * inputs + input);
    if (type === 'cf32') floats.set(sums.subarray(from, from + 2), 2 * at);
    else words[at] = (BigInt(sums[from + 1]) << S1_BITS) + BigInt(sums[from]);
  }
  return words;
}
