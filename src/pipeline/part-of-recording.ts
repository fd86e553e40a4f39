/** A stretch of a recording as a recording of its own: samples outside are read over, not counted. */
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSamples, secondsBetween, type Instant } from '../core/instant.js';
import { sampleRateOf, type Recording } from '../formats/index.js';
import { sliceBlock } from './slices.js';
import { sliceSpectra } from './spectra-slices.js';

/** Whole samples from the first at or after `from` to the last before `to`. */
export function partOfRecording<Of extends Recording>(
  recording: Of,
  { from, to }: { readonly from?: Instant; readonly to?: Instant },
): Of {
  const rateHz = sampleRateOf(recording);
  const { start, samples } = recording;
  // A billionth of a second is no sample.
  const placeOf = (at: Instant): number => Math.ceil((secondsBetween(start, at) - 1e-9) * rateHz);
  const first = from ? Math.max(0, placeOf(from)) : 0;
  const end = to ? Math.min(samples, placeOf(to)) : samples;
  if (!(end > first))
    refuse('--times', `nothing of ${recording.path} lies there`, 'see its times with corella inspect');
  if (first === 0 && end === samples) return recording;
  const common = { start: addSamples(start, first, rateHz), samples: end - first };
  if (recording.kind === 'voltages') {
    const cut = (
      block: VoltageBlock,
      range: { readonly first: number; readonly end: number },
    ): VoltageBlock => sliceBlock(block, range, rateHz);
    return {
      ...recording,
      ...common,
      blocks: (size: number) => within(recording.blocks(size), first, end, cut),
    };
  }
  const cut = (block: CanonicalSpectra, range: { readonly first: number; readonly end: number }) =>
    sliceSpectra(block, recording, range);
  return {
    ...recording,
    ...common,
    blocks: (size: number) => within(recording.blocks(size), first, end, cut),
  };
}

async function* within<Block extends { readonly samples: number; release?(): void }>(
  blocks: AsyncIterable<Block>,
  first: number,
  end: number,
  cut: (block: Block, range: { readonly first: number; readonly end: number }) => Block,
): AsyncGenerator<Block> {
  let at = 0;
  for await (const block of blocks) {
    const range = { first: Math.max(0, first - at), end: Math.min(block.samples, end - at) };
    at += block.samples;
    if (range.end > range.first) yield cut(block, range);
    else block.release?.();
    if (at >= end) return;
  }
}
