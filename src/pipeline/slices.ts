/** Cuts a stream of voltage blocks at the places asked for, so that integrations end exactly where they should. */
import { allocateVoltages, elementsPerVoltage, voltagesAT, type VoltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { addSamples } from '../core/instant.js';

/** The part of a block from sample `first` up to `end`, in its own memory (`into` is used again when it fits). */
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

export interface CutBlock {
  readonly block: VoltageBlock;
  /** True for the last block before a cut. */
  readonly endsPiece: boolean;
}

/**
 * The same samples in the same order, in blocks that never straddle a cut. Cuts come after `firstPiece`
 * samples and then every `piece` samples.
 */
export async function* cutStream(
  blocks: AsyncIterable<VoltageBlock>,
  cuts: { readonly firstPiece: number; readonly piece: number },
  sampleRateHz: number,
): AsyncGenerator<CutBlock> {
  let left = cuts.firstPiece;
  let scratch: VoltagesAT | undefined;
  for await (const block of blocks) {
    let at = 0;
    while (at < block.samples) {
      const take = Math.min(left, block.samples - at);
      const cut = sliceBlock(block, { first: at, end: at + take }, sampleRateHz, scratch);
      if (cut !== block && (scratch === undefined || scratch.length < cut.voltages.length))
        scratch = cut.voltages;
      at += take;
      left -= take;
      yield { block: cut, endsPiece: left === 0 };
      if (left === 0) left = cuts.piece;
    }
  }
}
