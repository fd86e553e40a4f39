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
import { preparing } from '../../core/closing.js';
import { refuse, wholeNumber } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
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
import { openInput, type InputFile } from '../io/input.js';

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
  readonly file: InputFile;
  /** In time order, without overlap. */
  readonly segments: readonly Segment[];
  /** Bytes outside all of them, known beforehand. */
  readonly spareBytes?: number;
  /** Segments that occur a second time in the file; known beforehand and skipped. */
  readonly doubled?: number;
  readonly tally: FrameTally;
  /** Reads and decodes samples of a segment, starting at its sample `from`. */
  read(segment: Segment, from: number, target: Target<Elements>): Promise<void>;
}

interface Memory<Elements> {
  elements(samples: number): Elements;
}

/** One buffer, allocated at the first block and reused; a shorter block gets its front. */
function memory<
  Elements extends { subarray(from: number, to: number): Elements; fill(value: number): unknown },
>(where: string, allocate: (samples: number) => Elements, elementsPerSample: number): Memory<Elements> {
  let buffer: Elements | undefined;
  return {
    elements: (samples) => {
      const view = (buffer ??= allocated(where, () => allocate(samples))).subarray(
        0,
        samples * elementsPerSample,
      );
      view.fill(0);
      return view;
    },
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

async function* framedBlocks<Elements>(
  store: FrameStore<Elements>,
  memory: Memory<Elements>,
  samples: number,
  blockSamples: number,
): AsyncGenerator<AssembledBlock & { elements: Elements }> {
  resetTally(store.tally);
  let elements = memory.elements(Math.min(blockSamples, samples));
  let stride = 0;
  const blocks = assembleFrames({
    senders: store.senders,
    samples,
    blockSamples,
    batches: store.batches(),
    tally: store.tally,
    clear: (length) => {
      stride = length;
      elements = memory.elements(length);
    },
    place: (frame, from, count, at) => {
      store.unpack(frame, from, { elements, stride, at, count });
    },
  });
  for await (const block of blocks) yield { ...block, elements };
}

async function* segmentedBlocks<Elements>(
  store: SegmentStore<Elements>,
  memory: Memory<Elements>,
  box: SenderRange,
  samples: number,
  blockSamples: number,
  within: SampleRange = { first: 0, end: samples },
): AsyncGenerator<AssembledBlock & { elements: Elements }> {
  const { spareBytes = 0, doubled = 0 } = store;
  Object.assign(resetTally(store.tally), { spareBytes, doubled });
  let next = 0;
  const begin = Math.floor(within.first / blockSamples) * blockSamples;
  for (let first = begin; first < Math.min(within.end, samples); first += blockSamples) {
    const length = Math.min(blockSamples, samples - first);
    const elements = memory.elements(length);
    const covered: number[] = [];
    for (let k = next; k < store.segments.length; k++) {
      const segment = store.segments[k];
      const from = Math.max(first, segment.firstSample);
      const to = Math.min(first + length, segment.firstSample + segment.samples);
      if (segment.firstSample + segment.samples <= first + length) next = k + 1;
      if (segment.firstSample >= first + length) break;
      if (to <= from) continue;
      if (from === segment.firstSample) store.tally.frames++;
      const target = { elements, stride: length, at: from - first, count: to - from };
      await store.read(segment, from - segment.firstSample, target);
      covered.push(from - first, to - first);
    }
    const gaps = [...gapsOf([box], [covered], length), ...noSamples(elements, box, length)];
    yield { firstSample: first, samples: length, gaps, elements };
  }
}

function noSamples(elements: unknown, { endInput, endChannel }: SenderRange, samples: number): SpectraGap[] {
  if (!(elements instanceof Float32Array)) return [];
  const parts = elements.length / (samples * endInput * endChannel);
  return takeNoSamples(elements, { samples, inputs: endInput, partsPerSample: parts === 2 ? 2 : 1 });
}

function voltages(
  facts: VoltageFacts,
  store: { file: InputFile; tally: FrameTally },
  walk: (
    memory: Memory<VoltageElements>,
    blockSamples: number,
    within?: SampleRange,
  ) => AsyncGenerator<AssembledBlock & { elements: VoltageElements }>,
): VoltageRecording {
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
  return { ...facts, kind: 'voltages', tally: store.tally, blocks, close: () => store.file.close() };
}

function spectra(
  facts: SpectraFacts,
  store: { file: InputFile; tally: FrameTally },
  walk: (
    memory: Memory<SpectraElements>,
    blockSamples: number,
    within?: SampleRange,
  ) => AsyncGenerator<AssembledBlock & { elements: SpectraElements }>,
): SpectraRecording {
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
  return { ...facts, kind: 'spectra', tally: store.tally, blocks, close: () => store.file.close() };
}

export const framedVoltages = (facts: VoltageFacts, store: FrameStore<VoltageElements>): VoltageRecording =>
  voltages(facts, store, (space, blockSamples) => framedBlocks(store, space, facts.samples, blockSamples));

export const framedSpectra = (facts: SpectraFacts, store: FrameStore<SpectraElements>): SpectraRecording =>
  spectra(facts, store, (space, blockSamples) => framedBlocks(store, space, facts.samples, blockSamples));

const everything = (inputs: number, channels: number): SenderRange => ({
  firstInput: 0,
  endInput: inputs,
  firstChannel: 0,
  endChannel: channels,
});

export const segmentedVoltages = (
  facts: VoltageFacts,
  store: SegmentStore<VoltageElements>,
): VoltageRecording =>
  voltages(facts, store, (space, blockSamples, within) =>
    segmentedBlocks(store, space, everything(facts.inputs, 1), facts.samples, blockSamples, within),
  );

export const segmentedSpectra = (
  facts: SpectraFacts,
  store: SegmentStore<SpectraElements>,
): SpectraRecording =>
  spectra(facts, store, (space, blockSamples, within) =>
    segmentedBlocks(
      store,
      space,
      everything(facts.inputs, facts.channels),
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

/** Opens the file for `use`, and closes it if `use` fails. */
export const openOn = <Opened>(path: string, use: (file: InputFile) => Promise<Opened>): Promise<Opened> =>
  preparing(async (closers) => use(closers.keep(await openInput(path))));
