/** Counts sample by sample: the reference for the bit counts. Slow and simple. */
import { baselineCount, baselineIndex, type CountsCB } from '../axes.js';
import type { SpectraGap } from '../gaps.js';
import { popcount, type Presence } from './presence.js';
import { SampleCounts, type PairShape } from './sample-counts.js';

/**
 * Adds to counts[c][b] how many of a block's samples both stations of each baseline have. Channels are taken in runs
 * between gap edges; a station misses a sample if any of its inputs does.
 */
export function addPlainCounts(
  counts: CountsCB,
  shape: PairShape & { readonly samples: number },
  gaps: readonly SpectraGap[],
  flaggedInputs: Uint8Array,
): void {
  const { channels, stations, polarisations, samples } = shape;
  const baselines = baselineCount(stations);
  const dead = Array.from({ length: stations }, (_, s) =>
    flaggedInputs.subarray(s * polarisations, (s + 1) * polarisations).every((flag) => flag === 1),
  );
  const edges = [
    ...new Set([0, channels, ...gaps.flatMap((gap) => [gap.firstChannel, gap.endChannel])]),
  ].sort((x, y) => x - y);
  for (let run = 0; run + 1 < edges.length; run++) {
    const here = gaps.filter((gap) => gap.firstChannel <= edges[run] && gap.endChannel > edges[run]);
    const missing = Array.from({ length: stations }, () => new Uint8Array(samples));
    for (const gap of here) {
      const [first, end] = [gap.firstInput / polarisations, gap.endInput / polarisations];
      for (let s = Math.floor(first); s < Math.ceil(end); s++) {
        missing[s].fill(1, gap.firstSample, gap.endSample);
      }
    }
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        if (dead[i] || dead[j]) continue;
        let present = 0;
        for (let t = 0; t < samples; t++) present += 1 - (missing[i][t] | missing[j][t]);
        for (let c = edges[run]; c < edges[run + 1]; c++) {
          counts[c * baselines + baselineIndex(i, j)] += present;
        }
      }
    }
  }
}

/** The same by presence bits, as the product counts. */
export function addSampleCounts(
  counts: CountsCB,
  shape: PairShape & { readonly samples: number },
  gaps: readonly SpectraGap[],
  flaggedInputs: Uint8Array,
): void {
  const block = new SampleCounts(shape);
  block.add(shape.samples, gaps);
  block.spread(counts, flaggedInputs);
}

/** Number of packet slots present. */
export function presentCells({ bits }: Presence): number {
  let sum = 0;
  for (const word of bits) sum += popcount(word);
  return sum;
}
