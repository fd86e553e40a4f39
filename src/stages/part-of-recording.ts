/** A time range of a recording as a recording of its own: samples outside are skipped, not counted. */
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSamples, secondsBetween, type Instant } from '../core/instant.js';
import type { SampleRange, Source } from '../core/sources.js';
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
  // Times are rounded to a billionth of a second.
  const placeOf = (at: Instant): number => Math.ceil((secondsBetween(start, at) - 1e-9) * rateHz);
  const first = from ? Math.max(0, placeOf(from)) : 0;
  const end = to ? Math.min(samples, placeOf(to)) : samples;
  if (!(end > first))
    refuse('--times', `${recording.path} has no data there`, 'see its times with corella inspect');
  if (first === 0 && end === samples) return recording;
  const common = { start: addSamples(start, first, rateHz), samples: end - first };
  if (recording.kind === 'voltages') {
    const cut = (block: VoltageBlock, range: SampleRange): VoltageBlock => sliceBlock(block, range, rateHz);
    return {
      ...recording,
      ...common,
      blocks: (size: number, range?: SampleRange) =>
        within(recording.blocks(size, ...shifted(range, first)), recording, { first, end }, cut),
    };
  }
  const cut = (block: CanonicalSpectra, range: SampleRange) => sliceSpectra(block, recording, range);
  return {
    ...recording,
    ...common,
    blocks: (size: number, range?: SampleRange) =>
      within(recording.blocks(size, ...shifted(range, first)), recording, { first, end }, cut),
  };
}

/**
 * For a stream without an end: whole samples from the first at or after `from` to the last before `to`. Undefined where
 * it began after `to`.
 */
export function partOfStream(
  source: Source,
  { from, to }: { readonly from?: Instant; readonly to?: Instant },
): Source | undefined {
  if (!from && !to) return source;
  const rateHz = sampleRateOf(source);
  const placeOf = (at: Instant): number => Math.ceil((secondsBetween(source.start, at) - 1e-9) * rateHz);
  const first = from ? Math.max(0, placeOf(from)) : 0;
  const end = to ? placeOf(to) : Infinity;
  if (!(end > first)) return undefined;
  const start = addSamples(source.start, first, rateHz);
  if (source.kind === 'voltages') {
    const cut = (block: VoltageBlock, range: SampleRange): VoltageBlock => sliceBlock(block, range, rateHz);
    return { ...source, start, blocks: (size) => within(source.blocks(size), source, { first, end }, cut) };
  }
  const { ...others } = source;
  // Packet slots would be those of the whole recording.
  Reflect.deleteProperty(others, 'cells');
  const cut = (block: CanonicalSpectra, range: SampleRange) => sliceSpectra(block, source, range);
  return { ...others, start, blocks: (size) => within(source.blocks(size), source, { first, end }, cut) };
}

/** A range of the part, in the whole. */
const shifted = (range: SampleRange | undefined, by: number): [] | [SampleRange] =>
  range ? [{ first: range.first + by, end: range.end + by }] : [];

/** Blocks at the same positions as those of the whole recording. */
async function* within<Block extends { readonly samples: number; readonly start: Instant; release?(): void }>(
  blocks: AsyncIterable<Block>,
  recording: Source,
  { first, end }: SampleRange,
  cut: (block: Block, range: SampleRange) => Block,
): AsyncGenerator<Block> {
  const rateHz = sampleRateOf(recording);
  for await (const block of blocks) {
    const at = Math.round(secondsBetween(recording.start, block.start) * rateHz);
    const range = { first: Math.max(0, first - at), end: Math.min(block.samples, end - at) };
    if (range.end > range.first) yield cut(block, range);
    else block.release?.();
    if (at + block.samples >= end) return;
  }
}
