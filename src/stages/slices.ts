/** Cuts blocks of voltages and of spectra in time, so that integrations end exactly where they should. */
import {
  allocateVoltages,
  elementsPerSpectra,
  elementsPerVoltage,
  spectraCAT,
  voltagesAT,
  type VoltagesAT,
} from '../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { addSamples } from '../core/instant.js';
import type { SampleRange, SpectraSource } from '../core/sources.js';

/** The part of a block from sample `first` up to `end`, in its own memory (`into` is reused when it fits). */
export function sliceBlock(
  block: VoltageBlock,
  { first, end }: SampleRange,
  sampleRateHz: number,
  into?: VoltagesAT,
): VoltageBlock {
  if (first === 0 && end === block.samples) return block;
  const samples = end - first;
  const width = elementsPerVoltage(block.type);
  const length = block.inputs * samples * width;
  const storage =
    into !== undefined && into.length >= length ? into : allocateVoltages(block.type, block.inputs, samples);
  const voltages = voltagesAT(storage.subarray(0, length), block.type, block.inputs, samples);
  for (let a = 0; a < block.inputs; a++) {
    const row = a * block.samples;
    voltages.set(block.voltages.subarray((row + first) * width, (row + end) * width), a * samples * width);
  }
  return {
    ...block,
    samples,
    voltages,
    gaps: movedGaps(block.gaps, { first, end }, -first),
    start: addSamples(block.start, first, sampleRateHz),
  };
}

/** The same of spectra. */
export function sliceSpectra(
  from: CanonicalSpectra,
  {
    type,
    channels,
    inputs,
    spectrumRateHz,
  }: Pick<SpectraSource, 'type' | 'channels' | 'inputs' | 'spectrumRateHz'>,
  { first, end }: SampleRange,
): CanonicalSpectra {
  if (first === 0 && end === from.samples) return from;
  const samples = end - first;
  const width = elementsPerSpectra(type);
  const rows = channels * inputs;
  const spectra = from.spectra.slice(0, rows * samples * width);
  for (let row = 0; row < rows; row++) {
    const start = row * from.samples;
    spectra.set(from.spectra.subarray((start + first) * width, (start + end) * width), row * samples * width);
  }
  return {
    samples,
    spectra: spectraCAT(spectra, type, channels, inputs, samples),
    gaps: movedGaps(from.gaps, { first, end }, -first),
    start: addSamples(from.start, first, spectrumRateHz),
  };
}

/** The gaps of some samples, with another origin. */
export const movedGaps = <Gap extends { readonly firstSample: number; readonly endSample: number }>(
  gaps: readonly Gap[],
  { first, end }: SampleRange,
  by: number,
): Gap[] =>
  gaps
    .filter((gap) => gap.firstSample < end && gap.endSample > first)
    .map((gap) => ({
      ...gap,
      firstSample: Math.max(gap.firstSample, first) + by,
      endSample: Math.min(gap.endSample, end) + by,
    }));

/** Slices of one block after another; a slice is valid until the next is requested, and its memory reused. */
export class BlockSlicer {
  private scratch: VoltagesAT | undefined;

  constructor(
    private readonly sampleRateHz: number,
    /** Memory for slices, where a special kind is needed. */
    private readonly memoryFor?: (block: VoltageBlock) => VoltagesAT,
  ) {}

  slice(block: VoltageBlock, first: number, end: number): VoltageBlock {
    if (end - first < block.samples) this.scratch ??= this.memoryFor?.(block);
    const cut = sliceBlock(block, { first, end }, this.sampleRateHz, this.scratch);
    if (cut !== block && (this.scratch === undefined || this.scratch.length < cut.voltages.length))
      this.scratch = cut.voltages;
    return cut;
  }
}
