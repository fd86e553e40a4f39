/** Summary of a recording's samples: first values, power, clipping, and missing samples. */
import type { OnProgress } from '../core/progress.js';
import {
  elementsPerSpectra,
  elementsPerVoltage,
  type SpectraElements,
  type SpectraType,
  type VoltageElements,
  type VoltageType,
} from '../core/axes.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Instant } from '../core/instant.js';
import { highNibble, lowNibble } from '../core/nibbles.js';
import type { FrameTally, Recording } from '../formats/index.js';

export interface Complex {
  readonly re: number;
  readonly im: number;
}
export type FirstValue = number | Complex;

/** The first samples of one channel and input; null if missing. */
interface FirstRow {
  readonly channel?: number;
  readonly input: number;
  readonly values: readonly (FirstValue | null)[];
}

/** A time range of samples with its gaps, voltages or spectra: elements : [c][a][t], one channel for voltages. */
export interface LookedBlock {
  readonly start: Instant;
  readonly samples: number;
  readonly channels: number;
  readonly inputs: number;
  readonly elements: VoltageElements | SpectraElements;
  readonly gaps: readonly SpectraGap[];
}

export interface Look {
  readonly extent: 'whole' | 'first block';
  /** Of each input, from the start. */
  readonly samples: number;
  readonly rows: readonly FirstRow[];
  /** Over the received numbers; re and im count separately. Undefined if none was received. */
  readonly rms?: number;
  /** Numbers at full scale, for integer samples of four bits or more. */
  readonly clipped?: { readonly numbers: number; readonly fraction: number };
  readonly missing: {
    readonly samples: number;
    readonly fraction: number;
    /** Number of gaps, and the first of them; samples count from the recording's start. */
    readonly gaps: number;
    readonly first: readonly SpectraGap[];
  };
  /** Frame statistics; complete if the whole recording was read. */
  readonly frames?: FrameTally;
}

const FIRST_VALUES = 8;
const FIRST_INPUTS = 4;
/** Samples over all channels and inputs: recordings up to this size are read whole, which takes about a second. */
const WHOLE_SAMPLES = 2 ** 25;
const BLOCK_SAMPLES = 2 ** 23;

const channelsIn = (file: Recording): number => (file.kind === 'spectra' ? file.channels : 1);

const bitsOfType = { i8: 8, ci8: 8, i16: 16, ci16: 16, ci4: 4, f32: 32, cf32: 32 } satisfies Record<
  VoltageType | SpectraType,
  number
>;
export const bitsOf = (file: Recording): number => file.bits ?? bitsOfType[file.type];

/**
 * The largest number the recorder can write; undefined for one or two bits, which have no headroom above the signal.
 */
function fullScale(file: Recording): number | undefined {
  const bits = bitsOf(file);
  return bits >= 4 && bits <= 16 ? 2 ** (bits - 1) - 1 : undefined;
}

/** Fills target with (re, im) of every `stride`th sample from `first`; im is 0 for real ones. */
type SampleReader = (target: Float64Array, first: number, stride?: number) => void;

export function sampleReader(
  type: VoltageType | SpectraType,
  elements: VoltageElements | SpectraElements,
): SampleReader {
  if (type === 'ci4') {
    return (target, first, stride = 1) => {
      for (let n = 0, k = first; n < target.length; n += 2, k += stride) {
        target[n] = highNibble(elements[k]);
        target[n + 1] = lowNibble(elements[k]);
      }
    };
  }
  const parts = type.startsWith('c') ? 2 : 1;
  return (target, first, stride = 1) => {
    for (let n = 0, k = first * parts; n < target.length; n += 2, k += stride * parts) {
      target[n] = elements[k];
      target[n + 1] = parts === 2 ? elements[k + 1] : 0;
    }
  };
}

export const isReal = (file: Recording): boolean => !file.type.startsWith('c');

/** [first, end) of each gap in one channel and input. */
export const holesOf = (
  { gaps }: LookedBlock,
  channel: number,
  input: number,
): readonly (readonly [number, number])[] =>
  gaps
    .filter(
      (gap) =>
        gap.firstInput <= input &&
        input < gap.endInput &&
        gap.firstChannel <= channel &&
        channel < gap.endChannel,
    )
    .map((gap) => [gap.firstSample, gap.endSample] as const);

export const isHole = (
  holes: readonly (readonly [number, number])[],
  first: number,
  end = first + 1,
): boolean => holes.some(([from, to]) => from < end && first < to);

/** Blocks of a few megabytes for any telescope, at most 65536 samples and at least 256. */
export async function* lookedBlocks(file: Recording): AsyncGenerator<LookedBlock> {
  const { inputs } = file;
  const channels = channelsIn(file);
  const length = Math.max(256, Math.min(65_536, Math.floor(BLOCK_SAMPLES / (inputs * channels))));
  if (file.kind === 'spectra') {
    for await (const { start, samples, spectra, gaps } of file.blocks(length))
      yield { start, samples, channels, inputs, elements: spectra, gaps };
    return;
  }
  for await (const { start, samples, voltages, gaps } of file.blocks(length)) {
    const boxes = gaps.map((gap) => ({ ...gap, firstChannel: 0, endChannel: 1 }));
    yield { start, samples, channels, inputs, elements: voltages, gaps: boxes };
  }
}

/** Reads the first block, or everything if that is little or requested. `onFirst` receives the first block. */
export async function lookAt(
  file: Recording,
  options: {
    readonly extent?: 'whole';
    readonly onFirst?: (block: LookedBlock) => void;
    /** From 0 to 1. */
    readonly onProgress?: OnProgress;
  } = {},
): Promise<Look> {
  const rowCount = file.inputs * channelsIn(file);
  const everything = options.extent === 'whole' || file.samples * rowCount <= WHOLE_SAMPLES;
  const limit = fullScale(file);
  const count = file.type === 'ci4' ? nibbleCounter() : numberCounter(limit ?? Infinity);
  const sums = { squares: 0, clipped: 0 };
  const missing = gapCollector();
  let rows: readonly FirstRow[] | undefined;
  let samples = 0;
  for await (const block of lookedBlocks(file)) {
    if (rows === undefined) {
      rows = firstRows(file, block);
      options.onFirst?.(block);
    }
    count(block.elements, sums);
    missing.add(block.gaps, samples, block.samples);
    samples += block.samples;
    if (!everything) break;
    options.onProgress?.({ done: samples, of: file.samples, unit: 'samples' });
  }
  const all = rowCount * samples;
  const perSample =
    file.kind === 'spectra' && file.type === 'ci4'
      ? 2
      : file.kind === 'spectra'
        ? elementsPerSpectra(file.type)
        : elementsPerVoltage(file.type);
  const numbers = (all - missing.samples()) * perSample;
  return {
    extent: everything ? 'whole' : 'first block',
    samples,
    rows: rows ?? [],
    ...(numbers === 0 ? {} : { rms: Math.sqrt(sums.squares / numbers) }),
    ...(limit === undefined || numbers === 0
      ? {}
      : { clipped: { numbers: sums.clipped, fraction: sums.clipped / numbers } }),
    missing: {
      samples: missing.samples(),
      fraction: all === 0 ? 1 : missing.samples() / all,
      gaps: missing.boxes(),
      first: missing.first(),
    },
    ...(file.tally && { frames: { ...file.tally } }),
  };
}

type Counter = (
  elements: VoltageElements | SpectraElements,
  sums: { squares: number; clipped: number },
) => void;

/** Missing samples are zero, and so add nothing to either sum. */
const numberCounter =
  (limit: number): Counter =>
  (elements, sums) => {
    let { squares, clipped } = sums;
    for (const value of elements) {
      squares += value * value;
      if (value >= limit || value <= -limit) clipped++;
    }
    sums.squares = squares;
    sums.clipped = clipped;
  };

function nibbleCounter(): Counter {
  const pairs = new Float64Array(512);
  sampleReader(
    'ci4',
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
  )(pairs, 0);
  const bothOf = (of: (part: number) => number): Float64Array =>
    Float64Array.from({ length: 256 }, (_, byte) => of(pairs[2 * byte]) + of(pairs[2 * byte + 1]));
  const squares = bothOf((part) => part * part);
  const clipped = bothOf((part) => (Math.abs(part) >= 7 ? 1 : 0));
  return (elements, sums) => {
    for (const byte of elements) {
      sums.squares += squares[byte];
      sums.clipped += clipped[byte];
    }
  };
}

/** The first samples of the first inputs in the first two channels, and of the very last row. */
function firstRows(file: Recording, block: LookedBlock): FirstRow[] {
  const { channels, inputs, samples } = block;
  const read = sampleReader(file.type, block.elements);
  const chosen = new Set<number>();
  for (let c = 0; c < Math.min(2, channels); c++)
    for (let a = 0; a < Math.min(FIRST_INPUTS, inputs); a++) chosen.add(c * inputs + a);
  chosen.add(channels * inputs - 1);
  return [...chosen].map((row) => {
    const [channel, input] = [Math.floor(row / inputs), row % inputs];
    const holes = holesOf(block, channel, input);
    const values = new Float64Array(2 * Math.min(FIRST_VALUES, samples));
    read(values, row * samples);
    return {
      ...(file.kind === 'spectra' && { channel }),
      input,
      values: Array.from({ length: values.length / 2 }, (_, t) => {
        if (isHole(holes, t)) return null;
        const [re, im] = values.subarray(2 * t);
        return isReal(file) ? re : { re, im };
      }),
    };
  });
}

const FIRST_GAPS = 8;

const boxSamples = (gap: SpectraGap): number =>
  (gap.endChannel - gap.firstChannel) * (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample);

/** Counts missing samples and joins gaps that continue from one block into the next. */
export function gapCollector() {
  let samples = 0;
  let boxes = 0;
  /** The end of the latest gap of each range of inputs and channels, and its index among the first gaps, if any. */
  const ends = new Map<string, { end: number; kept: number | undefined }>();
  const first: SpectraGap[] = [];
  return {
    add: (gaps: readonly SpectraGap[], offset: number, blockSamples: number): void => {
      for (const gap of [...gaps].sort((x, y) => x.firstSample - y.firstSample)) {
        samples += boxSamples(gap);
        const place = `${gap.firstInput} ${gap.endInput} ${gap.firstChannel} ${gap.endChannel}`;
        const box = { ...gap, firstSample: gap.firstSample + offset, endSample: gap.endSample + offset };
        const before = ends.get(place);
        if (before?.end === box.firstSample) {
          before.end = box.endSample;
          if (before.kept !== undefined)
            first[before.kept] = { ...first[before.kept], endSample: box.endSample };
          continue;
        }
        boxes++;
        const kept = first.length < FIRST_GAPS ? first.push(box) - 1 : undefined;
        ends.set(place, { end: box.endSample, kept });
      }
      // Only gaps that reach the block's end can continue.
      for (const [place, { end }] of ends) if (end < offset + blockSamples) ends.delete(place);
    },
    samples: () => samples,
    boxes: () => boxes,
    first: () => first,
  };
}
