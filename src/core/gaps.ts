/**
 * Missing data, listed explicitly. A gap is a range of inputs and samples that never arrived. Code that fills a block
 * writes zeros there, so that they add nothing, and lists the gap, so that they are not counted. Code that counts
 * stations instead of inputs widens gaps first (`wholeStations`).
 */
import { elementsPerSpectra, type CountsCB, type SpectraCAT, type SpectraType } from './axes.js';
import type { SpectraGap, VoltageGap } from './presence/gap-boxes.js';
import type { PairShape } from './presence/pair-counts.js';
import { SampleCounts } from './presence/sample-counts.js';

export type { SpectraGap, VoltageGap } from './presence/gap-boxes.js';

export interface CountShape extends PairShape {
  readonly samples: number;
}

/** Samples inside the gaps, over all inputs. */
export const samplesIn = (gaps: readonly VoltageGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample), 0);

/** Samples inside the gaps of channelised data, over all inputs and channels. */
export const channelSamplesIn = (gaps: readonly SpectraGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.endChannel - gap.firstChannel) * samplesIn([gap]), 0);

/** Writes zeros where gaps are; every block must have them. */
export function zeroGaps(
  spectra: SpectraCAT,
  shape: { readonly type: SpectraType; readonly inputs: number; readonly samples: number },
  gaps: readonly SpectraGap[],
): void {
  const elements = elementsPerSpectra(shape.type);
  for (const gap of gaps) {
    for (let c = gap.firstChannel; c < gap.endChannel; c++) {
      for (let a = gap.firstInput; a < gap.endInput; a++) {
        const row = (c * shape.inputs + a) * shape.samples;
        spectra.fill(0, (row + gap.firstSample) * elements, (row + gap.endSample) * elements);
      }
    }
  }
}

/** What a lost polarisation invalidates: itself only, or its whole station. */
export type GapsCover = 'inputs' | 'stations';

/** Whether a gap covers all polarisations of the stations it touches. */
export const coversStations = (gap: VoltageGap, polarisations: 1 | 2): boolean =>
  gap.firstInput % polarisations === 0 && gap.endInput % polarisations === 0;

/** The gaps widened to every polarisation of the stations they touch; the caller writes zeros there. */
export function wholeStations<Gap extends VoltageGap>(gaps: readonly Gap[], polarisations: 1 | 2): Gap[] {
  return gaps.map((gap) => ({
    ...gap,
    firstInput: Math.floor(gap.firstInput / polarisations) * polarisations,
    endInput: Math.ceil(gap.endInput / polarisations) * polarisations,
  }));
}

/**
 * Adds to counts[c][b] how many of a block's samples both stations of each baseline have. `flaggedInputs[a]` is 1 for
 * an input left out; a station with all inputs flagged counts nothing. To add many blocks, use `SampleCounts`, which
 * spreads counts over channels once.
 */
export function addSampleCounts(
  counts: CountsCB,
  shape: CountShape,
  gaps: readonly SpectraGap[],
  flaggedInputs: Uint8Array,
): void {
  const block = new SampleCounts(shape);
  block.add(shape.samples, gaps);
  block.spread(counts, flaggedInputs);
}
