/**
 * VDIF, the VLBI Data Interchange Format (1.1.1): frames of one thread each, a 32-byte header (16 in the legacy form),
 * little-endian, offset binary. Inputs are threads in ascending number, each with its channels: a = thread·channels +
 * channel. Bytes of 8 bits become byte − 128, words of 16 bits word − 32768.
 */
import { refuse } from '../../core/errors.js';
import { addSeconds } from '../../core/instant.js';
import { isSampleBits, packedType, planUnpacker, samplesIn, type SampleBits } from './decode.js';
import type { Format, OpenOptions, VoltageRecording } from '../format.js';
import {
  common,
  emptyTally,
  largestTogether,
  plausibleSamples,
  readFrames,
  smallestTogether,
  walkFrames,
  type FrameParser,
  type FrameReading,
} from './frames.js';
import { openOn, type InputFile } from '../io/input.js';
import { afterElapsedSeconds, vdifEpochUnixSeconds } from '../../core/clock/epochs.js';
import { sendersSideBySide } from '../../core/presence/presence.js';
import { framedVoltages, polarisationsFor } from './recording.js';
import { refuseLyingThreads, secondsOfOneThread } from './thread-seconds.js';
import { unknownFactsOf } from '../unknown-facts.js';
import { frameRate, refuseBeyond } from './vdif-rate.js';

interface Header {
  readonly invalid: boolean;
  readonly legacy: boolean;
  readonly seconds: number;
  readonly epoch: number;
  readonly frame: number;
  readonly version: number;
  readonly channels: number;
  readonly frameBytes: number;
  readonly complex: boolean;
  readonly bits: number;
  readonly thread: number;
  readonly station: number;
  readonly extension: number;
  /** Given by extensions 1, 3 and 4. */
  readonly sampleRateHz: number;
}

function parseHeader(view: DataView, at: number): Header {
  const word = (k: number): number => view.getUint32(at + 4 * k, true);
  const [w0, w1, w2, w3] = [word(0), word(1), word(2), word(3)];
  const legacy = ((w0 >>> 30) & 1) === 1;
  const extended = !legacy && at + 20 <= view.byteLength;
  const w4 = extended ? word(4) : 0;
  const extension = w4 >>> 24;
  const named = extended && [1, 3, 4].includes(extension);
  return {
    invalid: w0 >>> 31 === 1,
    legacy,
    seconds: w0 & 0x3fff_ffff,
    epoch: (w1 >>> 24) & 0x3f,
    frame: w1 & 0xff_ffff,
    version: w2 >>> 29,
    channels: 2 ** ((w2 >>> 24) & 0x1f),
    frameBytes: (w2 & 0xff_ffff) * 8,
    complex: w3 >>> 31 === 1,
    bits: ((w3 >>> 26) & 0x1f) + 1,
    thread: (w3 >>> 16) & 0x3ff,
    station: w3 & 0xffff,
    extension,
    // The field gives the bandwidth; real samples have twice that rate.
    sampleRateHz: named ? (w4 & 0x7f_ffff) * ((w4 >>> 23) & 1 ? 1e6 : 1e3) * (w3 >>> 31 === 1 ? 1 : 2) : 0,
  };
}

const headerBytes = (header: Header): number => (header.legacy ? 16 : 32);
const MOST_CHANNELS = 4096;
/** The fields equal in all frames of a recording; a frame that differs is damaged. */
const sameKind = (a: Header, b: Header): boolean =>
  a.frameBytes === b.frameBytes &&
  a.channels === b.channels &&
  a.bits === b.bits &&
  a.complex === b.complex &&
  a.legacy === b.legacy;

const plausible = (header: Header): boolean =>
  header.frameBytes > headerBytes(header) &&
  header.channels <= MOST_CHANNELS &&
  isSampleBits(header.bits) &&
  header.version <= 1;

/** Two letters if they are letters, as most recorders write; otherwise the number. */
const stationName = (station: number): string | number => {
  const letters = String.fromCharCode(station >>> 8, station & 0xff);
  return /^[0-9A-Za-z]{2}$/.test(letters) ? letters : station;
};

/** Three consecutive headers of the same kind, epoch and second (or the next): never by chance. */
function followEachOther(start: Uint8Array): boolean {
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  if (start.length < 32) return false;
  const first = parseHeader(view, 0);
  if (!plausible(first) || 2 * first.frameBytes + 32 > start.length) return false;
  return [1, 2].every((k) => {
    const other = parseHeader(view, k * first.frameBytes);
    const afterS = other.seconds - first.seconds;
    return sameKind(other, first) && other.epoch === first.epoch && (afterS === 0 || afterS === 1);
  });
}

const WINDOW_BYTES = 4 * 2 ** 20;

/** The headers of the whole frames between two file positions. */
async function headersIn(file: InputFile, first: Header, from: number, end: number): Promise<Header[]> {
  const found: Header[] = [];
  const parse: FrameParser = (bytes, view, at) => {
    if (at + first.frameBytes > bytes.length) return { consumed: 0 };
    const header = parseHeader(view, at);
    if (sameKind(header, first)) found.push(header);
    return { consumed: first.frameBytes };
  };
  const reading = { file, from, end, bufferBytes: bufferFor(first), tally: emptyTally(), parse };
  await walkFrames(reading);
  return found;
}
const bufferFor = (header: Header): number => Math.max(WINDOW_BYTES, 2 * header.frameBytes);

async function openFrames(file: InputFile, options: OpenOptions): Promise<VoltageRecording> {
  const { path } = file;
  if (file.sizeBytes < 32) refuse(path, 'is too short for one VDIF frame', 'it was cut short: copy it again');
  const head = new Uint8Array(32);
  await file.readExactly(head, 0);
  const first = parseHeader(new DataView(head.buffer), 0);
  if (!plausible(first) || first.frameBytes > file.sizeBytes) {
    refuse(
      path,
      `its first header is not VDIF's (frames of ${first.frameBytes} bytes, ${first.channels} channels of ${first.bits} bits, version ${first.version})`,
      'it is damaged, cut off at the front, or in another format',
    );
  }
  const { frameBytes, channels } = first;
  const bits = first.bits as SampleBits;
  const parts = first.complex ? 2 : 1;
  const packing = { bits, code: 'offset', inputs: channels, parts } as const;
  const samples = samplesIn(path, frameBytes - headerBytes(first), packing);

  const count = Math.floor(file.sizeBytes / frameBytes);
  const windowFrames = Math.max(1, Math.min(count, Math.floor(WINDOW_BYTES / frameBytes)));
  const early = await headersIn(file, first, 0, windowFrames * frameBytes);
  const late = await headersIn(file, first, (count - windowFrames) * frameBytes, count * frameBytes);
  const threads = common([...early, ...late].map(({ thread }) => thread));
  const stationOf = stationsOf(path, [...early, ...late]);
  const rate = frameRate(path, [early, late], samples, options.sampleRateHz);
  const { perSecond } = rate;
  const correctionS = secondsOfOneThread(path, early, threads, options.secondsOfThread);
  const elapsed = (header: Header): number =>
    (header.seconds + (correctionS.get(header.thread) ?? 0)) * perSecond + header.frame;
  const spread = 4 * windowFrames;
  const usable = (headers: readonly Header[]): number[] =>
    headers.filter((header) => header.frame < perSecond && header.epoch === first.epoch).map(elapsed);
  if (usable(early).length === 0) {
    refuse(
      path,
      `frame numbers reach ${Math.max(...early.map((header) => header.frame))} where a second has ${perSecond} frames`,
      'the sample rate given is too low, or the headers are damaged',
    );
  }
  if (options.secondsOfThread === undefined) refuseLyingThreads(path, early, threads);
  const startFrame = smallestTogether(usable(early), spread);
  const endFrame = largestTogether([...usable(late), startFrame], spread) + 1;
  const total = plausibleSamples(path, (endFrame - startFrame) * samples, count * samples);

  const sampleRateHz = perSecond * samples;
  const startSecond = Math.floor(startFrame / perSecond);
  const inputs = threads.length * channels;
  const senderOf = new Map(threads.map((thread, sender) => [thread, sender]));
  const tally = emptyTally();
  const parse: FrameParser = (bytes, view, at) => {
    if (at + frameBytes > bytes.length) return { consumed: 0 };
    const header = parseHeader(view, at);
    const sender = senderOf.get(header.thread);
    const good =
      sameKind(header, first) &&
      !header.invalid &&
      header.epoch === first.epoch &&
      sender !== undefined &&
      header.station === stationOf.get(header.thread);
    if (good) refuseBeyond(path, rate, header.frame);
    if (!good || header.frame >= perSecond) {
      tally.invalid++;
      return { consumed: frameBytes };
    }
    const payload = bytes.subarray(at + headerBytes(first), at + frameBytes);
    const firstSample = (elapsed(header) - startFrame) * samples;
    return { consumed: frameBytes, frame: { sender, firstSample, samples, payload } };
  };
  const reading: FrameReading = { file, from: 0, bufferBytes: bufferFor(first), tally, parse };
  const unpack = planUnpacker(packing);
  return framedVoltages(
    {
      path,
      format: 'vdif',
      telescope: options.telescope,
      details: {
        frames: count,
        frameBytes,
        samplesPerFrame: samples,
        framesPerSecond: perSecond,
        threads,
        channels,
        bits,
        complex: first.complex,
        station: stationName(first.station),
        extension: first.legacy ? 'legacy' : first.extension,
        referenceEpoch: first.epoch,
        seconds: first.seconds,
        firstFrame: first.frame,
        ...(options.secondsOfThread !== undefined && { secondsOfThread: options.secondsOfThread }),
      },
      type: packedType(bits, first.complex ? 'complex' : 'real'),
      bits,
      ...unknownFactsOf({ frequency: options.centreFrequencyHz === undefined }),
      assumed: rate.assumed,
      inputs,
      polarisations: polarisationsFor(path, inputs, 1, options),
      samples: total,
      sampleRateHz,
      // By default the band starts at zero: its centre is R/4 (real) or 0 (complex).
      centreFrequencyHz: options.centreFrequencyHz ?? (first.complex ? 0 : sampleRateHz / 4),
      start: addSeconds(
        afterElapsedSeconds(vdifEpochUnixSeconds(first.epoch), startSecond),
        (startFrame - startSecond * perSecond) / perSecond,
      ),
    },
    {
      file,
      tally,
      senders: sendersSideBySide(threads.length, channels, 1),
      batches: () => readFrames(reading),
      unpack: (frame, from, target) => {
        unpack(frame.payload, from, target, frame.sender * channels);
      },
    },
  );
}

/** The station of each thread; two with the same one would overwrite each other's samples. */
function stationsOf(path: string, headers: readonly Header[]): Map<number, number> {
  const ofThread = new Map<number, number[]>();
  for (const { thread, station } of headers) {
    const stations = ofThread.get(thread) ?? [];
    if (stations.push(station) === 1) ofThread.set(thread, stations);
  }
  return new Map(
    [...ofThread].map(([thread, seen]) => {
      const stations = common(seen);
      if (stations.length > 1)
        refuse(
          path,
          `its thread ${thread} is of stations ${stations.map(stationName).join(' and ')}`,
          'give each station its own file: files of the same time are read side by side',
        );
      return [thread, stations[0]];
    }),
  );
}

const SYNC = 0xacab_feed;

export const vdif: Format = {
  name: 'vdif',
  title: 'VDIF',
  extensions: ['.vdif', '.vdf'],
  kinds: [
    {
      title: 'VDIF',
      holds: 'recordings',
      reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations', 'secondsOfThread', 'sideband'],
    },
  ],
  recognise: (path, head) => {
    if (head.length < 32) return false;
    const view = new DataView(head.buffer, head.byteOffset, head.length);
    const header = parseHeader(view, 0);
    if (!plausible(header)) return false;
    const synced = !header.legacy && [1, 3].includes(header.extension) && view.getUint32(20, true) === SYNC;
    return synced || /\.vdi?f$/i.test(path);
  },
  recogniseFrames: followEachOther,
  open: (path, options) => openOn(path, (file) => openFrames(file, options ?? {})),
};
