/** Cuts blocks of voltages, so that integrations end exactly where they should. */
import { allocateVoltages, elementsPerVoltage, voltagesAT, type VoltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { addSamples } from '../core/instant.js';

/** The part of a block from sample `first` up to `end`, in its own memory (`into` is reused when it fits). */
export function sliceBlock(
  block: VoltageBlock,
  range: { readonly first: number; readonly end: number },
  sampleRateHz: number,
  into?: VoltagesAT,
): VoltageBlock {
  const { first, end } = range;
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
    gaps: block.gaps
      .filter((gap) => gap.firstSample < end && gap.endSample > first)
      .map((gap) => ({
        ...gap,
        firstSample: Math.max(gap.firstSample, first) - first,
        endSample: Math.min(gap.endSample, end) - first,
      })),
    start: addSamples(block.start, first, sampleRateHz),
  };
}

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
