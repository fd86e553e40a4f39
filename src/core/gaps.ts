/**
 * Missing data, listed explicitly. A gap is a range of inputs and samples that never arrived. Code that fills a block
 * writes zeros there, so that they add nothing, and lists the gap, so that they are not counted. Code that counts
 * stations instead of inputs widens gaps first (`wholeStations`).
 */
import { elementsPerSpectra, type SpectraCAT, type SpectraType } from './axes.js';
import { wholeNumber } from './errors.js';

/** A range of inputs and samples that never arrived. Half-open; times are samples from the start of the block. */
export interface VoltageGap {
  readonly firstInput: number;
  readonly endInput: number;
  readonly firstSample: number;
  readonly endSample: number;
}

export interface SpectraGap extends VoltageGap {
  readonly firstChannel: number;
  readonly endChannel: number;
}

/** Refuses a gap that is not within a block. */
export function checkGap(where: string, gap: VoltageGap, inputs: number, samples: number): void {
  wholeNumber(where, "a gap's endInput", gap.endInput, 0, inputs);
  wholeNumber(where, "a gap's firstInput", gap.firstInput, 0, gap.endInput);
  wholeNumber(where, "a gap's endSample", gap.endSample, 0, samples);
  wholeNumber(where, "a gap's firstSample", gap.firstSample, 0, gap.endSample);
}

/** Samples inside the gaps, over all inputs. */
export const samplesIn = (gaps: readonly VoltageGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample), 0);

/** Samples inside the gaps of channelised data, over all inputs and channels. */
export const channelSamplesIn = (gaps: readonly SpectraGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.endChannel - gap.firstChannel) * samplesIn([gap]), 0);

/** Writes zeros where gaps are; every block must have them. */
export const zeroGaps = (
  spectra: SpectraCAT,
  {
    type,
    inputs,
    samples,
  }: { readonly type: SpectraType; readonly inputs: number; readonly samples: number },
  gaps: readonly SpectraGap[],
): void => {
  zeroRanges(spectra, { inputs, samples, perSample: elementsPerSpectra(type) }, gaps);
};

/** The same for samples of any type, elements : [c][a][t]. */
export function zeroRanges(
  elements: { fill(value: number, from: number, end: number): unknown },
  { inputs, samples, perSample }: Readonly<Record<'inputs' | 'samples' | 'perSample', number>>,
  gaps: readonly SpectraGap[],
): void {
  for (const gap of gaps) {
    for (let c = gap.firstChannel; c < gap.endChannel; c++) {
      for (let a = gap.firstInput; a < gap.endInput; a++) {
        const row = (c * inputs + a) * samples;
        elements.fill(0, (row + gap.firstSample) * perSample, (row + gap.endSample) * perSample);
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
