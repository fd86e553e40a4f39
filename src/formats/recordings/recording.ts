/** Recordings made of frames (many, small, in any time order) or of segments (few, large, read in part). */
import {
  allocateSpectra,
  allocateVoltages,
  elementsPerSpectra,
  elementsPerVoltage,
  spectraCAT,
  voltagesAT,
  type SpectraElements,
  type VoltageElements,
} from '../../core/axes.js';
import type { Closable } from '../../core/closing.js';
import { refuse, wholeNumber } from '../../core/errors.js';
import { zeroRanges, type SpectraGap } from '../../core/gaps.js';
import { sendersSideBySide } from '../../core/presence/presence.js';
import { addSamples } from '../../core/instant.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { CanonicalSpectra, FrameTally, SpectraRecording, VoltageRecording } from '../format.js';
import type { VoltageBlock } from '../../core/blocks.js';
import type { SampleRange } from '../../core/sources.js';
import { takeNoSamples } from './no-samples.js';
import {
  assembleFrames,
  emptyTally,
  gapsOf,
  type AssembledBlock,
  type Frame,
  type SenderRange,
} from './frames.js';
import type { InputFile } from '../io/input.js';
import { bytesOf, turn, type SampleBytes } from '../io/interleave.js';
import { makeSigned } from './unsigned.js';

/** Destination of samples: `elements` has `stride` samples per row; write `count` of them, starting at sample `at`. */
export interface Target<Elements> {
  readonly elements: Elements;
  readonly stride: number;
  readonly at: number;
  readonly count: number;
}

type VoltageFacts = Omit<VoltageRecording, 'kind' | 'blocks' | 'close' | 'tally'>;
type SpectraFacts = Omit<SpectraRecording, 'kind' | 'blocks' | 'close' | 'tally'>;

interface FrameStore<Elements> {
  readonly file: InputFile;
  readonly senders: readonly SenderRange[];
  readonly tally: FrameTally;
  /** A new pass through the file. */
  batches(): AsyncIterable<readonly Frame[]>;
  /** Decodes samples of a frame, starting at its sample `from`. */
  unpack(frame: Frame, from: number, target: Target<Elements>): void;
}

/** A part of the recording that is contiguous in the file. */
export interface Segment {
  readonly firstSample: number;
  readonly samples: number;
  readonly offsetBytes: number;
  /** Samples at its start that repeat the segment before. */
  readonly leadSamples?: number;
}

interface SegmentStore<Elements> {
  readonly file: Closable;
  /** In time order, without overlap. */
  readonly segments: readonly Segment[];
  /** Bytes outside all of them, known beforehand. */
  readonly spareBytes?: number;
  /** Segments that occur a second time in the file; known beforehand and skipped. */
  readonly doubled?: number;
  /** Ranges that count as missing although the file has bytes for them. */
  readonly missing?: readonly SpectraGap[];
  readonly tally?: FrameTally;
  /** Reads and decodes samples of a segment, starting at its sample `from`. */
  read(segment: Segment, from: number, target: Target<Elements>): Promise<void>;
  /** Refuses a complete block with invalid values. */
  check?(elements: Elements, firstSample: number): void;
}

/** The memory of a block of this many samples, with whatever is in it. */
export type Memory<Elements> = (samples: number) => Elements;
type AnyElements = VoltageElements | SpectraElements;
interface Filled<Elements> extends AssembledBlock {
  readonly elements: Elements;
}
type Walk<Elements> = (
  memory: Memory<Elements>,
  blockSamples: number,
  within?: SampleRange,
) => AsyncGenerator<Filled<Elements>>;
interface Held {
  readonly file: Closable;
  readonly tally?: FrameTally;
}

/** One buffer, allocated at the first block and reused; a shorter block gets its front. */
function memory<Elements extends { subarray(from: number, to: number): Elements }>(
  where: string,
  allocate: (samples: number) => Elements,
  elementsPerSample: number,
): Memory<Elements> {
  let buffer: Elements | undefined;
  return (samples) => {
    buffer ??= allocated(where, () => allocate(samples));
    return buffer.subarray(0, samples * elementsPerSample);
  };
}

/** An impossible size comes from a damaged header, or from too long a block. */
function allocated<Made>(where: string, allocate: () => Made): Made {
  try {
    return allocate();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse(
      where,
      'asks for more than memory can hold',
      'take shorter blocks; if that does not help, it is damaged',
    );
  }
}

const resetTally = (tally: FrameTally): FrameTally => Object.assign(tally, emptyTally());

async function* framedBlocks<Elements extends AnyElements>(
  store: FrameStore<Elements>,
  memory: Memory<Elements>,
  samples: number,
  blockSamples: number,
): AsyncGenerator<Filled<Elements>> {
  resetTally(store.tally);
  let elements = memory(Math.min(blockSamples, samples));
  let stride = 0;
  const blocks = assembleFrames({
    senders: store.senders,
    samples,
    blockSamples,
    batches: store.batches(),
    tally: store.tally,
    clear: (length) => {
      stride = length;
      elements = memory(length);
      elements.fill(0);
    },
    place: (frame, from, count, at) => {
      store.unpack(frame, from, { elements, stride, at, count });
    },
  });
  for await (const block of blocks) yield { ...block, elements };
}

async function* segmentedBlocks<Elements extends AnyElements>(
  store: SegmentStore<Elements>,
  memory: Memory<Elements>,
  box: SenderRange,
  samples: number,
  blockSamples: number,
  within: SampleRange = { first: 0, end: samples },
): AsyncGenerator<Filled<Elements>> {
  const { spareBytes = 0, doubled = 0, missing = [], tally = emptyTally() } = store;
  Object.assign(resetTally(tally), { spareBytes, doubled });
  let next = 0;
  const begin = Math.floor(within.first / blockSamples) * blockSamples;
  for (let first = begin; first < Math.min(within.end, samples); first += blockSamples) {
    const length = Math.min(blockSamples, samples - first);
    const elements = memory(length);
    const covered: number[] = [];
    for (let k = next; k < store.segments.length; k++) {
      const segment = store.segments[k];
      const from = Math.max(first, segment.firstSample);
      const to = Math.min(first + length, segment.firstSample + segment.samples);
      if (segment.firstSample + segment.samples <= first + length) next = k + 1;
      if (segment.firstSample >= first + length) break;
      if (to <= from) continue;
      if (from === segment.firstSample) tally.frames++;
      const target = { elements, stride: length, at: from - first, count: to - from };
      await store.read(segment, from - segment.firstSample, target);
      covered.push(from - first, to - first);
    }
    const perSample = elements.length / (length * box.endInput * box.endChannel) === 2 ? 2 : 1;
    const shape = { samples: length, inputs: box.endInput, perSample } as const;
    const gaps = [...gapsOf([box], [covered], length), ...clipped(missing, first, length)];
    zeroRanges(elements, shape, gaps);
    store.check?.(elements, first);
    gaps.push(...takeNoSamples(elements, { ...shape, partsPerSample: perSample }));
    yield { firstSample: first, samples: length, gaps, elements };
  }
}

/** The parts of gaps within a block, from its first sample on. */
const clipped = (gaps: readonly SpectraGap[], first: number, samples: number): SpectraGap[] =>
  gaps.flatMap((gap) => {
    const firstSample = Math.max(0, gap.firstSample - first);
    const endSample = Math.min(samples, gap.endSample - first);
    return endSample > firstSample ? [{ ...gap, firstSample, endSample }] : [];
  });

/** Bytes per read: large enough for the disk, small compared with a block. */
const CHUNK_BYTES = 2 ** 21;

/** Reads interleaved samples, [t][stream], into the rows of a block. */
export function interleavedReader(
  file: InputFile,
  of: { readonly streams: number; readonly sampleBytes: SampleBytes; readonly isUnsigned?: boolean },
): SegmentStore<AnyElements>['read'] {
  const { streams, sampleBytes, isUnsigned = false } = of;
  const frameBytes = streams * sampleBytes;
  const most = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  return async ({ offsetBytes }, from, { elements, stride, at, count }) => {
    const chunk = new Uint8Array(Math.min(most, count) * frameBytes);
    for (let done = 0; done < count; done += most) {
      const rows = Math.min(most, count - done);
      const part = chunk.subarray(0, rows * frameBytes);
      await file.readExactly(part, offsetBytes + (from + done) * frameBytes);
      if (isUnsigned) makeSigned(part);
      turn(
        { bytes: part, first: 0, stride: streams },
        { bytes: bytesOf(elements), first: at + done, stride },
        { rows, columns: streams, sampleBytes },
      );
    }
  };
}

export function voltages(facts: VoltageFacts, held: Held, walk: Walk<VoltageElements>): VoltageRecording {
  const { type, inputs } = facts;
  async function* blocks(blockSamples: number, within?: SampleRange): AsyncGenerator<VoltageBlock> {
    wholeNumber(facts.path, 'block length in samples', blockSamples, 1, 2 ** 31);
    const space = memory<VoltageElements>(
      facts.path,
      (samples) => allocateVoltages(type, inputs, samples),
      inputs * elementsPerVoltage(type),
    );
    for await (const block of walk(space, blockSamples, within)) {
      yield {
        type,
        inputs,
        samples: block.samples,
        voltages: voltagesAT(block.elements, type, inputs, block.samples),
        gaps: block.gaps.map(({ firstInput, endInput, firstSample, endSample }) => ({
          firstInput,
          endInput,
          firstSample,
          endSample,
        })),
        start: addSamples(facts.start, block.firstSample, facts.sampleRateHz),
      };
    }
  }
  return { ...facts, kind: 'voltages', ...ended(held), blocks };
}

export function spectra(facts: SpectraFacts, held: Held, walk: Walk<SpectraElements>): SpectraRecording {
  const { type, channels, inputs } = facts;
  async function* blocks(blockSamples: number, within?: SampleRange): AsyncGenerator<CanonicalSpectra> {
    wholeNumber(facts.path, 'block length in samples', blockSamples, 1, 2 ** 31);
    const space = memory<SpectraElements>(
      facts.path,
      (samples) => allocateSpectra(type, channels, inputs, samples),
      channels * inputs * elementsPerSpectra(type),
    );
    for await (const block of walk(space, blockSamples, within)) {
      yield {
        samples: block.samples,
        spectra: spectraCAT(block.elements, type, channels, inputs, block.samples),
        gaps: block.gaps,
        start: addSamples(facts.start, block.firstSample, facts.spectrumRateHz),
      };
    }
  }
  return { ...facts, kind: 'spectra', ...ended(held), blocks };
}

const ended = ({ file, tally }: Held): Pick<VoltageRecording, 'tally' | 'close'> => ({
  ...(tally && { tally }),
  close: () => file.close(),
});

export const framedVoltages = (facts: VoltageFacts, store: FrameStore<VoltageElements>): VoltageRecording =>
  voltages(facts, store, (space, blockSamples) => framedBlocks(store, space, facts.samples, blockSamples));

export const framedSpectra = (facts: SpectraFacts, store: FrameStore<SpectraElements>): SpectraRecording =>
  spectra(facts, store, (space, blockSamples) => framedBlocks(store, space, facts.samples, blockSamples));

export const segmentedVoltages = (
  facts: VoltageFacts,
  store: SegmentStore<VoltageElements>,
): VoltageRecording =>
  voltages(facts, store, (space, blockSamples, within) =>
    segmentedBlocks(
      store,
      space,
      sendersSideBySide(1, facts.inputs, 1)[0],
      facts.samples,
      blockSamples,
      within,
    ),
  );

export const segmentedSpectra = (
  facts: SpectraFacts,
  store: SegmentStore<SpectraElements>,
): SpectraRecording =>
  spectra(facts, store, (space, blockSamples, within) =>
    segmentedBlocks(
      store,
      space,
      sendersSideBySide(1, facts.inputs, facts.channels)[0],
      facts.samples,
      blockSamples,
      within,
    ),
  );

/** How a file's inputs are divided into stations; a telescope that does not fit is refused. */
export function polarisationsFor(
  path: string,
  inputs: number,
  guess: 1 | 2,
  options: { readonly telescope?: Telescope; readonly polarisations?: 1 | 2 },
): 1 | 2 {
  const polarisations = options.polarisations ?? options.telescope?.polarisations ?? guess;
  if (inputs % polarisations !== 0) {
    refuse(
      path,
      `${inputs} inputs do not divide into ${polarisations} polarisations`,
      'give source.polarisations: 1',
    );
  }
  const { telescope } = options;
  if (telescope && telescope.stations.length * polarisations !== inputs) {
    refuse(
      path,
      `holds ${inputs} inputs where ${telescope.name} has ${telescope.stations.length} stations of ${polarisations} polarisations`,
      telescope.stations.length === inputs
        ? 'give source.polarisations: 1 where each input is a station'
        : 'name the telescope that made it with telescope: NAME; a JSON description may list these stations alone',
    );
  }
  return polarisations;
}
