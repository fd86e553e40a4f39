/**
 * Several recordings as one. Files that are consecutive in time are one recording with gaps between them; files of the
 * same time are stations side by side, each file's inputs after those of the one before. Both are ranges on one time
 * grid; whatever no range covers is missing.
 */
import type { SpectraElements, VoltageElements } from '../../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
import { formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { sampleRateOf } from '../../core/sources.js';
import type { EndsEarly, FrameTally, OpenOptions, Recording } from '../format.js';
import { emptyTally, gapsOf, type SenderRange } from '../recordings/frames.js';
import { polarisationsFor, spectra, voltages, type Memory } from '../recordings/recording.js';
import { refuseOtherInputs, refuseUnlike } from './alike.js';

interface Part {
  readonly recording: Recording;
  readonly firstInput: number;
  /** On the common grid; samples before `skip` come from the previous file. */
  readonly firstSample: number;
  readonly skip: number;
}

/** Beyond this the files belong to different observations. */
const MOST_HOLES = 100;

export function joinRecordings(
  parts: readonly Recording[],
  options: Pick<OpenOptions, 'telescope' | 'polarisations'>,
): Recording {
  const [first] = parts;
  for (const other of parts.slice(1)) refuseUnlike(first, other);
  const rateHz = sampleRateOf(first);
  const origin = parts.reduce<Instant>(
    (earliest, { start }) => (secondsBetween(earliest, start) < 0 ? start : earliest),
    first.start,
  );
  const placed = parts.map((recording) => ({ recording, at: gridPlace(recording, origin, rateHz) }));
  const overlaps = placed.some((one, k) =>
    placed.some(
      (two, j) => j > k && overlapOf(one, two) > 0.5 * Math.min(one.recording.samples, two.recording.samples),
    ),
  );
  if (!overlaps) for (const other of parts.slice(1)) refuseOtherInputs(first, other);
  const boxes = overlaps ? sideBySide(placed) : inSequence(placed);
  const inputs = overlaps ? parts.reduce((sum, one) => sum + one.inputs, 0) : first.inputs;
  const samples = Math.max(...placed.map(({ at, recording }) => at + recording.samples));
  const held = Math.max(...parts.map((one) => one.samples));
  if (samples > MOST_HOLES * parts.length * held)
    refuse(
      first.path,
      `and ${parts[parts.length - 1].path} lie ${Math.round(samples / rateHz)} s apart`,
      'they are no recording of one time: read them one by one',
    );
  const tally: FrameTally = emptyTally();
  const channels = first.kind === 'spectra' ? first.channels : 1;
  const cutShort = parts.flatMap(({ endsEarly }) => (endsEarly ? [endsEarly] : []));
  const assumed = [...new Set(parts.flatMap((one) => one.assumed ?? []))];
  const facts = {
    path: parts.map(({ path }) => path).join(','),
    format: first.format,
    ...(options.telescope
      ? { telescope: options.telescope }
      : first.telescope && !overlaps
        ? { telescope: first.telescope }
        : {}),
    ...(first.history && { history: first.history }),
    bits: first.bits,
    unknownFacts: first.unknownFacts,
    ...(cutShort.length > 0 && { endsEarly: allOf(cutShort) }),
    ...(assumed.length > 0 && { assumed }),
    details: {
      files: boxes.map(({ recording, firstInput, firstSample }) => ({
        path: recording.path,
        startUtc: formatInstant(recording.start, 9),
        samples: recording.samples,
        firstInput,
        firstSample,
      })),
      arranged: overlaps ? 'side by side' : 'in sequence',
      first: first.details,
    },
    inputs,
    polarisations: polarisationsFor(first.path, inputs, first.polarisations, options),
    samples,
    start: origin,
    ...(parts.some((one) => one.verify !== undefined) && {
      verify: async () => {
        for (const part of parts) await part.verify?.();
      },
    }),
  };
  const parted = {
    tally,
    file: {
      close: async () => {
        for (const part of parts) await part.close();
      },
    },
  };
  const shape = { channels, inputs, samples, tally };
  if (first.kind === 'voltages') {
    const { type, sampleRateHz, centreFrequencyHz } = first;
    return voltages({ ...facts, type, sampleRateHz, centreFrequencyHz }, parted, (memory, blockSamples) =>
      joinedBlocks(boxes, shape, memory, blockSamples),
    );
  }
  const { type, spectrumRateHz, frequenciesHz, channelWidthHz, levels, gainRatio, realChannels } = first;
  return spectra(
    {
      ...facts,
      type,
      channels,
      spectrumRateHz,
      frequenciesHz,
      channelWidthHz,
      levels,
      gainRatio,
      realChannels,
    },
    parted,
    (memory, blockSamples) => joinedBlocks(boxes, shape, memory, blockSamples),
  );
}

/** The sum of what is missing in several truncated files. */
const allOf = (ends: readonly EndsEarly[]): EndsEarly => ({
  said: ends[0].said,
  promisedBytes: ends.reduce((sum, { promisedBytes }) => sum + promisedBytes, 0),
  heldBytes: ends.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
  missingSamples: ends.reduce((sum, { missingSamples }) => sum + missingSamples, 0),
});

/** The position of a file's first sample on the first file's grid; refused if off the grid by more than a tenth. */
function gridPlace(recording: Recording, origin: Instant, rateHz: number): number {
  const exact = secondsBetween(origin, recording.start) * rateHz;
  const place = Math.round(exact);
  // A double resolves seconds of this century to a fraction of a nanosecond; beyond that samples must agree.
  if (Math.abs(exact - place) > 0.1 + 1e-9 * rateHz)
    refuse(
      recording.path,
      `its samples lie ${(exact - place).toFixed(2)} of a sample beside those of the first file`,
      'they were recorded by another clock: correlate them apart',
    );
  return place;
}

interface Placed {
  readonly recording: Recording;
  readonly at: number;
}

const overlapOf = (one: Placed, two: Placed): number =>
  Math.min(one.at + one.recording.samples, two.at + two.recording.samples) - Math.max(one.at, two.at);

/** Each file is a station: two without a common time could also be one station's, which is ambiguous. */
function refuseMixed(placed: readonly Placed[]): void {
  for (const one of placed)
    for (const two of placed)
      if (overlapOf(one, two) <= 0)
        refuse(
          two.recording.path,
          `follows ${one.recording.path}, where other files are of the same time`,
          "make one recording of each station's files first, with corella convert",
        );
}

function sideBySide(placed: readonly Placed[]): Part[] {
  refuseMixed(placed);
  let firstInput = 0;
  return placed.map(({ recording, at }) => {
    if (recording.kind === 'spectra')
      refuse(
        recording.path,
        'is channelised data of the same time as another file',
        'files of the same time are joined where they hold voltages',
      );
    const part = { recording, firstInput, firstSample: at, skip: 0 };
    firstInput += recording.inputs;
    return part;
  });
}

/** Where a file repeats the end of the previous one (GUPPI's OVERLAP), samples come from the earlier. */
function inSequence(placed: readonly Placed[]): Part[] {
  let reached = 0;
  return [...placed]
    .sort((x, y) => x.at - y.at)
    .map(({ recording, at }, k) => {
      const skip = k === 0 ? 0 : Math.max(0, reached - at);
      reached = Math.max(reached, at + recording.samples);
      return { recording, firstInput: 0, firstSample: at, skip };
    });
}

interface Shape {
  readonly channels: number;
  readonly inputs: number;
  readonly samples: number;
  readonly tally: FrameTally;
}

async function* joinedBlocks<Elements extends VoltageElements | SpectraElements>(
  parts: readonly Part[],
  { channels, inputs, samples, tally }: Shape,
  memory: Memory<Elements>,
  blockSamples: number,
) {
  const readers = parts.map((part) => ({ part, iterator: openReader(part, blockSamples) }));
  for (let at = 0; at < samples; at += blockSamples) {
    const length = Math.min(blockSamples, samples - at);
    const elements = memory(length);
    elements.fill(0);
    const perSample = elements.length / (channels * inputs * length);
    const senders: SenderRange[] = [];
    const covered: number[][] = [];
    const missing: SpectraGap[] = [];
    for (const { part, iterator } of readers) {
      const sender = { firstInput: part.firstInput, endInput: part.firstInput + part.recording.inputs };
      const box = { ...sender, firstChannel: 0, endChannel: channels };
      const known = senders.findIndex(({ firstInput }) => firstInput === part.firstInput);
      const k = known < 0 ? senders.push(box) - 1 : known;
      const cover = (covered[k] ??= []);
      for await (const piece of iterator.until(at + length)) {
        const from = Math.max(at, piece.at);
        const to = Math.min(at + length, piece.at + piece.samples);
        for (let c = 0; c < channels; c++)
          for (let a = 0; a < part.recording.inputs; a++) {
            const source = (c * part.recording.inputs + a) * piece.stride + (from - piece.at) + piece.offset;
            const target = (c * inputs + part.firstInput + a) * length + (from - at);
            elements.set(
              piece.elements.subarray(source * perSample, (source + to - from) * perSample),
              target * perSample,
            );
          }
        cover.push(from - at, to - at);
        for (const gap of piece.gaps) {
          const first = Math.max(from, piece.at - piece.offset + gap.firstSample);
          const end = Math.min(to, piece.at - piece.offset + gap.endSample);
          if (end <= first) continue;
          missing.push({
            ...gap,
            firstInput: gap.firstInput + part.firstInput,
            endInput: gap.endInput + part.firstInput,
            firstSample: first - at,
            endSample: end - at,
          });
        }
      }
    }
    sumTallies(tally, parts);
    const gaps = [...gapsOf(senders, covered, length), ...missing];
    yield { firstSample: at, samples: length, gaps, elements };
  }
}

function sumTallies(tally: FrameTally, parts: readonly Part[]): void {
  Object.assign(tally, emptyTally());
  for (const { recording } of parts)
    for (const key of Object.keys(tally) as (keyof FrameTally)[]) tally[key] += recording.tally?.[key] ?? 0;
}

interface Piece {
  /** On the common grid, without the skipped samples. */
  readonly at: number;
  readonly samples: number;
  /** Of a row, and the position of its first sample. */
  readonly stride: number;
  readonly offset: number;
  readonly elements: VoltageElements | SpectraElements;
  readonly gaps: readonly SpectraGap[];
}

/** Yields a part's blocks up to the current time; one that extends beyond is yielded again. */
function openReader({ recording, firstSample, skip }: Part, blockSamples: number) {
  const iterator: AsyncIterator<VoltageBlock | CanonicalSpectra> = recording
    .blocks(blockSamples)
    [Symbol.asyncIterator]();
  let place = firstSample;
  let current: Piece | undefined;
  let release: (() => void) | undefined;
  let isDone = false;
  const next = async (): Promise<void> => {
    release?.();
    release = undefined;
    current = undefined;
    const step = await iterator.next();
    if (step.done === true) {
      isDone = true;
      return;
    }
    const block = step.value;
    const offset = Math.min(block.samples, Math.max(0, firstSample + skip - place));
    current = {
      at: place + offset,
      samples: block.samples - offset,
      stride: block.samples,
      offset,
      elements: 'voltages' in block ? block.voltages : block.spectra,
      gaps: block.gaps.map((gap) => ({ firstChannel: 0, endChannel: 1, ...gap })),
    };
    release = block.release?.bind(block);
    place += block.samples;
  };
  return {
    async *until(end: number): AsyncGenerator<Piece> {
      while (!isDone) {
        if (!current) {
          if (place >= end) return;
          await next();
          continue;
        }
        if (current.at >= end) return;
        if (current.samples > 0) yield current;
        if (current.at + current.samples > end) return;
        current = undefined;
      }
    },
  };
}
