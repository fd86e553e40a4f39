/** A time range of a recording as a recording of its own: samples outside are skipped, not counted. */
import { refuse } from '../core/errors.js';
import { addSamples, secondsBetween, type Instant } from '../core/instant.js';
import type { SampleRange, Source } from '../core/sources.js';
import { sampleRateOf, type Recording } from '../formats/index.js';
import { sliceBlock, sliceSpectra } from './slices.js';

interface Times {
  readonly from?: Instant;
  readonly to?: Instant;
}

/** Whole samples from the first at or after `from` to the last before `to`. */
export function partOfRecording<Of extends Recording>(recording: Of, times: Times): Of {
  const { start, samples } = recording;
  const part = samplesOf(recording, times, samples);
  const { first, end } = part;
  if (!(end > first))
    refuse('--times', `${recording.path} has no data there`, 'see its times with corella inspect');
  if (first === 0 && end === samples) return recording;
  return {
    ...recording,
    start: addSamples(start, first, sampleRateOf(recording)),
    samples: end - first,
    blocks: blocksOf(recording, part),
  };
}

/** The same for a stream without an end; undefined where it began after `to`. */
export function partOfStream(source: Source, times: Times): Source | undefined {
  if (!times.from && !times.to) return source;
  const part = samplesOf(source, times, Infinity);
  if (!(part.end > part.first)) return undefined;
  const others = { ...source };
  // Packet slots would be those of the whole recording.
  Reflect.deleteProperty(others, 'cells');
  const start = addSamples(source.start, part.first, sampleRateOf(source));
  return { ...others, start, blocks: blocksOf(source, part) } as Source;
}

function samplesOf(source: Source, { from, to }: Times, most: number): SampleRange {
  const rateHz = sampleRateOf(source);
  // Times are rounded to a billionth of a second.
  const placeOf = (at: Instant): number => Math.ceil((secondsBetween(source.start, at) - 1e-9) * rateHz);
  return { first: from ? Math.max(0, placeOf(from)) : 0, end: to ? Math.min(most, placeOf(to)) : most };
}

/** The blocks of a part; ranges are counted from its first sample. */
function blocksOf<Of extends Source>(source: Of, part: SampleRange): Of['blocks'] {
  const blocks = (size: number, range?: SampleRange) => {
    const asked = range && { first: range.first + part.first, end: range.end + part.first };
    return source.kind === 'voltages'
      ? within(source.blocks(size, asked), source, part, (block, own) =>
          sliceBlock(block, own, source.sampleRateHz),
        )
      : within(source.blocks(size, asked), source, part, (block, own) => sliceSpectra(block, source, own));
  };
  return blocks as Of['blocks'];
}

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
