/**
 * From recorders' frames to blocks. A frame holds some samples of one source (a VDIF thread, an LWA stand, a group of
 * channels) and their time; frames may be lost, repeated or slightly out of order. Samples without a frame are zero and
 * listed as a gap, never stale memory.
 */
import { refuse, wholeNumber } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
import type { SenderRange } from '../../core/presence/presence.js';
import type { FrameTally } from '../format.js';
import type { InputFile } from '../io/input.js';

/** The range of inputs and channels that one kind of frame fills. */
export type { SenderRange };

export interface Frame {
  readonly sender: number;
  /** From the recording's first sample; negative: before it. */
  readonly firstSample: number;
  readonly samples: number;
  /** A view, valid until the next batch. */
  readonly payload: Uint8Array;
}

export const emptyTally = (): FrameTally => ({
  frames: 0,
  invalid: 0,
  late: 0,
  doubled: 0,
  outside: 0,
  spareBytes: 0,
  saturated: 0,
});

/** A parser's result for the available bytes: 0 consumed requests more. */
interface ParseStep {
  readonly consumed: number;
  readonly frame?: Frame;
}
export type FrameParser = (bytes: Uint8Array, view: DataView, at: number) => ParseStep;

export interface FrameReading {
  readonly file: InputFile;
  readonly from: number;
  readonly end?: number;
  /** At least twice the longest frame. */
  readonly bufferBytes: number;
  readonly tally: FrameTally;
  readonly parse: FrameParser;
}

/** Reads a file frame by frame through one buffer; yields all frames of a buffer together. */
export async function* readFrames(reading: FrameReading): AsyncGenerator<Frame[]> {
  const { file, parse, tally } = reading;
  const end = reading.end ?? file.sizeBytes;
  const buffer = new Uint8Array(Math.max(1, Math.min(reading.bufferBytes, end - reading.from)));
  let kept = 0;
  let position = reading.from;
  while (position < end) {
    const wanted = Math.min(buffer.length - kept, end - position);
    if (wanted <= 0) throw new Error(`${file.path}: a frame outgrew its buffer of ${buffer.length} bytes`);
    await file.readExactly(buffer.subarray(kept, kept + wanted), position);
    position += wanted;
    const bytes = buffer.subarray(0, kept + wanted);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const frames: Frame[] = [];
    let at = 0;
    while (at < bytes.length) {
      const step = parse(bytes, view, at);
      if (step.consumed === 0) break;
      at += step.consumed;
      if (step.frame) frames.push(step.frame);
    }
    yield frames;
    buffer.copyWithin(0, at, bytes.length);
    kept = bytes.length - at;
  }
  tally.spareBytes += kept;
}

/** The next sync word of four bytes at or after `from`, or the first position where one could still begin. */
export function nextSync(sync: readonly number[], bytes: Uint8Array, from: number): number {
  for (let at = from; at + 4 <= bytes.length; at++) {
    at = bytes.indexOf(sync[0], at);
    if (at < 0) break;
    if (isSync(sync, bytes, at)) return at;
  }
  return Math.max(from, bytes.length - 3);
}
export const isSync = (sync: readonly number[], bytes: Uint8Array, at: number): boolean =>
  sync.every((byte, k) => bytes[at + k] === byte);

/** Reads to the end, for the parser's side effects. */
export async function walkFrames(reading: FrameReading): Promise<void> {
  const walk = readFrames(reading);
  while ((await walk.next()).done !== true) continue;
}

export interface AssembledBlock {
  readonly firstSample: number;
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
}

interface Assembly {
  readonly senders: readonly SenderRange[];
  /** In the whole recording. */
  readonly samples: number;
  readonly blockSamples: number;
  readonly batches: AsyncIterable<readonly Frame[]>;
  readonly tally: FrameTally;
  /** Makes the target a zeroed block of this many samples. */
  clear(samples: number): void;
  /** Writes `count` samples of a frame, starting at its sample `from`, to the block's sample `at`. */
  place(frame: Frame, from: number, count: number, at: number): void;
}

/**
 * Frames to blocks. A block is closed after 2·senders + 16 frames that start after it: enough for the reordering of a
 * network switch, and one frame with a damaged time cannot close it early.
 */
export async function* assembleFrames(assembly: Assembly): AsyncGenerator<AssembledBlock> {
  const { senders, samples, tally } = assembly;
  const blockSamples = wholeNumber('blocks', 'blockSamples', assembly.blockSamples, 1, 2 ** 31);
  const mostBeyond = 2 * senders.length + 16;
  let first = 0;
  let length = Math.min(blockSamples, samples);
  let ahead: Frame[] = [];
  let beyond = 0;
  let covered = senders.map((): number[] => []);
  /** Start samples of the frames in this block and those ahead: the first of duplicates is used. */
  const begun = senders.map(() => new Set<number>());
  assembly.clear(length);

  const placeHere = (frame: Frame): void => {
    const from = Math.max(frame.firstSample, first);
    const to = Math.min(frame.firstSample + frame.samples, first + length);
    if (to <= from) return;
    assembly.place(frame, from - frame.firstSample, to - from, from - first);
    covered[frame.sender].push(from - first, to - first);
  };
  const take = (frame: Frame): void => {
    const end = frame.firstSample + frame.samples;
    if (end <= 0 || frame.firstSample >= samples) tally.outside++;
    else if (end <= first) tally.late++;
    else if (begun[frame.sender].has(frame.firstSample)) tally.doubled++;
    else {
      tally.frames++;
      begun[frame.sender].add(frame.firstSample);
      placeHere(frame);
      if (end <= first + length) return;
      ahead.push({ ...frame, payload: frame.payload.slice() });
      if (frame.firstSample >= first + length) beyond++;
    }
  };
  const finished = (): AssembledBlock => ({
    firstSample: first,
    samples: length,
    gaps: gapsOf(senders, covered, length),
  });
  const advance = (): void => {
    first += length;
    length = Math.min(blockSamples, samples - first);
    covered = senders.map(() => []);
    if (length <= 0) return;
    assembly.clear(length);
    ahead = ahead.filter((frame) => frame.firstSample + frame.samples > first);
    for (const known of begun) known.clear();
    for (const frame of ahead) {
      begun[frame.sender].add(frame.firstSample);
      placeHere(frame);
    }
    beyond = ahead.filter((frame) => frame.firstSample >= first + length).length;
  };

  for await (const batch of assembly.batches) {
    for (const frame of batch) {
      if (length <= 0) {
        tally.outside++;
        continue;
      }
      take(frame);
      while (beyond >= mostBeyond) {
        yield finished();
        advance();
      }
    }
  }
  while (length > 0) {
    yield finished();
    advance();
  }
}

/** The gaps in `covered` ([from, to) pairs per sender); equal gaps of neighbouring senders are joined. */
export function gapsOf(
  senders: readonly SenderRange[],
  covered: readonly (readonly number[])[],
  samples: number,
): SpectraGap[] {
  const gaps: SpectraGap[] = [];
  const latest = new Map<string, number>();
  senders.forEach((sender, index) => {
    for (const [firstSample, endSample] of holes(covered[index], samples)) {
      const gap: SpectraGap = { ...sender, firstSample, endSample };
      const span = `${firstSample} ${endSample}`;
      const before = latest.get(span);
      if (before !== undefined && joins(gaps[before], gap)) {
        gaps[before] = { ...gaps[before], endInput: gap.endInput, endChannel: gap.endChannel };
      } else {
        latest.set(span, gaps.push(gap) - 1);
      }
    }
  });
  return gaps;
}

/** Whether the second range continues the first over inputs or over channels. */
function joins(a: SpectraGap, b: SpectraGap): boolean {
  const sameChannels = a.firstChannel === b.firstChannel && a.endChannel === b.endChannel;
  const sameInputs = a.firstInput === b.firstInput && a.endInput === b.endInput;
  return (sameChannels && a.endInput === b.firstInput) || (sameInputs && a.endChannel === b.firstChannel);
}

function holes(pairs: readonly number[], samples: number): [number, number][] {
  const order = Array.from({ length: pairs.length / 2 }, (_, k) => k).sort(
    (x, y) => pairs[2 * x] - pairs[2 * y],
  );
  const open: [number, number][] = [];
  let reached = 0;
  for (const k of order) {
    if (pairs[2 * k] > reached) open.push([reached, pairs[2 * k]]);
    reached = Math.max(reached, pairs[2 * k + 1]);
  }
  if (reached < samples) open.push([reached, samples]);
  return open;
}

/**
 * The largest of some times, excluding outliers: one damaged time stamp must not lengthen a recording. `spread` is the
 * largest distance between neighbours. With fewer than four there is no majority.
 */
export function largestTogether(times: readonly number[], spread: number): number {
  const sorted = [...times].sort((x, y) => x - y);
  let last = sorted.length - 1;
  while (last >= 3 && sorted[last] - sorted[last - 1] > spread) last--;
  return sorted[last];
}
export const smallestTogether = (times: readonly number[], spread: number): number =>
  -largestTogether(
    times.map((time) => -time),
    spread,
  );

/** Refuses a recording that is mostly gap by its time stamps: they are damaged, or files were joined. */
export function plausibleSamples(path: string, samples: number, storedSamples: number): number {
  if (!Number.isSafeInteger(samples) || samples < 1 || samples > 100 * storedSamples + 1e6) {
    refuse(
      path,
      `its time stamps span ${samples} samples, yet it holds only ${storedSamples}`,
      'the first or last frames are damaged, or unrelated recordings were joined: cut them apart',
    );
  }
  return samples;
}
