/**
 * Number of samples that both stations of a pair have, from presence bits: rows are combined by AND and counted by
 * popcount.
 */
import type { CountsCB } from '../axes.js';
import { popcount } from './presence.js';

/**
 * sums[i(i + 1)/2 + j] += the number of bits that rows i and j share; rows : [row][word]. Complete rows are recognised
 * by their own number of bits, so that with little loss hardly any pair is compared.
 */
export function addSharedBits(sums: Float64Array, rows: Uint32Array, rowWords: number, bits: number): void {
  const count = rowWords === 0 ? 0 : rows.length / rowWords;
  const own = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    for (let w = 0; w < rowWords; w++) own[i] += popcount(rows[i * rowWords + w]);
  }
  for (let i = 0, b = 0; i < count; i++) {
    const x = i * rowWords;
    for (let j = 0; j <= i; j++, b++) {
      if (own[i] === bits) sums[b] += own[j];
      else if (own[j] === bits || j === i) sums[b] += own[i];
      else {
        let shared = 0;
        for (let w = 0, y = j * rowWords; w < rowWords; w++) shared += popcount(rows[x + w] & rows[y + w]);
        sums[b] += shared;
      }
    }
  }
}

export interface PairShape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
}

/** Whether every input of a station is flagged. */
export function deadStations(
  { stations, polarisations }: { readonly stations: number; readonly polarisations: 1 | 2 },
  flaggedInputs?: Uint8Array,
): boolean[] {
  return Array.from(
    { length: stations },
    (_, s) =>
      flaggedInputs?.subarray(s * polarisations, (s + 1) * polarisations).every((flag) => flag === 1) ===
      true,
  );
}

/** counts[c][b] += row[b] for a run of channels. */
export function addToChannels(
  counts: CountsCB,
  row: Float64Array,
  firstChannel: number,
  endChannel: number,
): void {
  for (let c = firstChannel; c < endChannel; c++) {
    const at = c * row.length;
    for (let b = 0; b < row.length; b++) counts[at + b] += row[b];
  }
}
