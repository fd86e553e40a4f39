/** Reads interleaved frames of a SigMF data file into [stream][t] blocks, with a list of gaps. */
import { wholeNumber } from '../../../core/errors.js';
import type { SpectraGap } from '../../../core/gaps.js';
import type { SampleRange } from '../../../core/sources.js';
import type { InputFile } from '../../io/input.js';
import { turn } from '../../io/interleave.js';
import { makeSigned } from '../unsigned.js';
import type { SigmfLayout } from './meta.js';

interface FrameBlock {
  /** From the start of the recording. */
  readonly firstSample: number;
  readonly samples: number;
  /** bytes : [channel · inputs + input][t]; the memory is reused for the next block. */
  readonly bytes: Uint8Array;
  /** Zero in `bytes`; times from the start of the block. */
  readonly gaps: readonly SpectraGap[];
}

/** Bytes per read: large enough for the disk, small compared with a block. */
const CHUNK_BYTES = 2 ** 21;

export async function* readFrames(
  file: InputFile,
  layout: SigmfLayout,
  blockSamples: number,
  within: SampleRange = { first: 0, end: layout.samples },
  { isUnsigned = false }: { readonly isUnsigned?: boolean } = {},
): AsyncGenerator<FrameBlock> {
  wholeNumber(file.path, 'samples a block', blockSamples, 1, 2 ** 31);
  const streams = layout.channels * layout.inputs;
  const { sampleBytes } = layout;
  const frameBytes = streams * sampleBytes;
  const capacity = Math.min(blockSamples, layout.samples);
  const storage = new Uint8Array(capacity * frameBytes);
  const chunkFrames = Math.max(1, Math.min(capacity, Math.floor(CHUNK_BYTES / frameBytes)));
  const chunk = new Uint8Array(chunkFrames * frameBytes);

  const from = Math.floor(within.first / capacity) * capacity;
  for (let first = from; first < Math.min(within.end, layout.samples); first += capacity) {
    const samples = Math.min(capacity, layout.samples - first);
    const bytes = storage.subarray(0, samples * frameBytes);
    const gaps = gapsBetween(layout, first, first + samples);
    if (gaps.length > 0) bytes.fill(0);
    for (const segment of layout.segments) {
      const end = Math.min(first + samples, segment.firstSample + segment.frames);
      for (let t = Math.max(first, segment.firstSample); t < end; t += chunkFrames) {
        const frames = Math.min(chunkFrames, end - t);
        const part = chunk.subarray(0, frames * frameBytes);
        await file.readExactly(part, (segment.firstFrame + t - segment.firstSample) * frameBytes);
        // Missing samples stay 0.
        if (isUnsigned) makeSigned(part);
        turn(
          { bytes: part, first: 0, stride: streams },
          { bytes, first: t - first, stride: samples },
          { rows: frames, columns: streams, sampleBytes },
        );
      }
    }
    for (const gap of gaps) blank(bytes, gap, layout, samples);
    yield { firstSample: first, samples, bytes, gaps };
  }
}

/** Gaps between segments and gaps from annotations, clipped to [from, to). */
function gapsBetween(layout: SigmfLayout, from: number, to: number): SpectraGap[] {
  const { channels, inputs, segments, missing } = layout;
  const everything = { firstInput: 0, endInput: inputs, firstChannel: 0, endChannel: channels };
  const holes = segments.slice(1).map((segment, k) => ({
    ...everything,
    firstSample: segments[k].firstSample + segments[k].frames,
    endSample: segment.firstSample,
  }));
  return [...holes, ...missing].flatMap((gap) => {
    const firstSample = Math.max(from, gap.firstSample) - from;
    const endSample = Math.min(to, gap.endSample) - from;
    return endSample > firstSample ? [{ ...gap, firstSample, endSample }] : [];
  });
}

function blank(bytes: Uint8Array, gap: SpectraGap, layout: SigmfLayout, samples: number): void {
  const { inputs, sampleBytes } = layout;
  for (let c = gap.firstChannel; c < gap.endChannel; c++) {
    for (let a = gap.firstInput; a < gap.endInput; a++) {
      const row = (c * inputs + a) * samples;
      bytes.fill(0, (row + gap.firstSample) * sampleBytes, (row + gap.endSample) * sampleBytes);
    }
  }
}
