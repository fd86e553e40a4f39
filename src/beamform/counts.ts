/** The samples in each value of a beam: those that arrived of inputs with a weight. */
import { emptyPresence, markSlots, popcount, type Presence } from '../core/presence/presence.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Bins } from './plan.js';

export interface CountOptions {
  readonly channels: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  /** X and Y separate, or together. */
  readonly planes: 1 | 2;
}

/**
 * Adds to counts : [plane][bin][c]. used : [c][a], 1 where an input has a weight; gaps may overlap. Channels between the
 * edges of gaps that have the same inputs are counted once.
 */
export function addBeamCounts(
  { channels, inputs, polarisations, planes }: CountOptions,
  used: Uint8Array,
  { samples, gaps }: { readonly samples: number; readonly gaps: readonly SpectraGap[] },
  { spectraPerBin, offset, bins }: Pick<Bins, 'spectraPerBin' | 'offset' | 'bins'>,
  counts: Float64Array,
): void {
  const edges = new Set(gaps.flatMap(({ firstChannel, endChannel }) => [firstChannel, endChannel]));
  const planeOf = (a: number): number => (planes === 2 ? a % polarisations : 0);
  /** [plane][bin] of the channel before. */
  const row = new Float64Array(planes * bins);
  for (let c = 0; c < channels; c++) {
    if (c === 0 || edges.has(c) || !sameInputs(used, inputs, c)) {
      row.fill(0);
      const here = gaps.filter(({ firstChannel, endChannel }) => firstChannel <= c && endChannel > c);
      const missing = here.length === 0 ? undefined : missingOf(inputs, samples, here);
      for (let a = 0; a < inputs; a++) {
        if (used[c * inputs + a] === 0) continue;
        for (let bin = 0; bin < bins; bin++) {
          const from = Math.max(0, bin * spectraPerBin - offset);
          const to = Math.min(samples, (bin + 1) * spectraPerBin - offset);
          row[planeOf(a) * bins + bin] += to - from - (missing ? bitsIn(missing, a, from, to) : 0);
        }
      }
    }
    for (let n = 0; n < row.length; n++) counts[n * channels + c] += row[n];
  }
}

function sameInputs(used: Uint8Array, inputs: number, c: number): boolean {
  for (let a = 0; a < inputs; a++) if (used[c * inputs + a] !== used[(c - 1) * inputs + a]) return false;
  return true;
}

/** One row for each input, a bit where its sample is missing. */
function missingOf(inputs: number, samples: number, gaps: readonly SpectraGap[]): Presence {
  const missing = emptyPresence(inputs, 1, samples);
  for (const { firstInput, endInput, firstSample, endSample } of gaps)
    for (let a = firstInput; a < Math.min(inputs, endInput); a++)
      markSlots(missing, a, Math.max(0, firstSample), Math.min(samples, endSample), 'present');
  return missing;
}

function bitsIn({ bits, rowWords }: Presence, row: number, from: number, to: number): number {
  let sum = 0;
  for (let word = from >>> 5; word * 32 < to; word++) {
    const low = Math.max(0, from - word * 32);
    const high = Math.min(32, to - word * 32);
    const mask = high - low === 32 ? -1 : ((1 << (high - low)) - 1) << low;
    sum += popcount(bits[row * rowWords + word] & mask);
  }
  return sum;
}
