/**
 * VDIF, the VLBI Data Interchange Format (1.1.1): frames of one thread each, a 32-byte header (16 in the legacy form),
 * little-endian, offset binary. Inputs are threads in ascending number, each with its channels: a = thread·channels +
 * channel. Bytes of 8 bits become byte − 128, words of 16 bits word − 32768.
 */
import { recurring } from '../../core/recurring.js';
import { refuse } from '../../core/errors.js';
import { addSeconds } from '../../core/instant.js';
import {
  isSampleBits,
  packedType,
  readVdifHeader,
  stationName,
  vdifHeaderBytes,
  type SampleBits,
  type VdifHeader,
} from '../../core/vdif-header.js';
import { planUnpacker, samplesIn } from './decode.js';
import type { Format, OpenOptions, VoltageRecording } from '../format.js';
import {
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

const MOST_LOG2_CHANNELS = 12;
/** The fields equal in all frames of a recording; a frame that differs is damaged. */
const sameKind = (a: VdifHeader, b: VdifHeader): boolean =>
  a.frameBytes === b.frameBytes &&
  a.log2Channels === b.log2Channels &&
  a.bits === b.bits &&
  a.parts === b.parts &&
  a.legacy === b.legacy;

const plausible = (header: VdifHeader): boolean =>
  header.frameBytes > vdifHeaderBytes(header) &&
  header.log2Channels <= MOST_LOG2_CHANNELS &&
  isSampleBits(header.bits) &&
  header.version <= 1;

/** Three consecutive headers of the same kind, epoch and second (or the next): never by chance. */
function followEachOther(start: Uint8Array): boolean {
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  if (start.length < 32) return false;
  const first = readVdifHeader(view, 0);
  if (!plausible(first) || 2 * first.frameBytes + 32 > start.length) return false;
  return [1, 2].every((k) => {
    const other = readVdifHeader(view, k * first.frameBytes);
    const afterS = other.seconds - first.seconds;
    return sameKind(other, first) && other.epoch === first.epoch && (afterS === 0 || afterS === 1);
  });
}

const WINDOW_BYTES = 4 * 2 ** 20;

/** The headers of the whole frames between two file positions. */
async function headersIn(
  file: InputFile,
  first: VdifHeader,
  from: number,
  end: number,
): Promise<VdifHeader[]> {
  const found: VdifHeader[] = [];
  const parse: FrameParser = (bytes, view, at) => {
    if (at + first.frameBytes > bytes.length) return { consumed: 0 };
    const header = readVdifHeader(view, at);
    if (sameKind(header, first)) found.push(header);
    return { consumed: first.frameBytes };
  };
  const reading = { file, from, end, bufferBytes: bufferFor(first), tally: emptyTally(), parse };
  await walkFrames(reading);
  return found;
}
const bufferFor = (header: VdifHeader): number => Math.max(WINDOW_BYTES, 2 * header.frameBytes);

async function openFrames(file: InputFile, options: OpenOptions): Promise<VoltageRecording> {
  const { path } = file;
  if (file.sizeBytes < 32) refuse(path, 'is too short for one VDIF frame', 'it was cut short: copy it again');
  const head = new Uint8Array(32);
  await file.readExactly(head, 0);
  const first = readVdifHeader(new DataView(head.buffer), 0);
  if (!plausible(first) || first.frameBytes > file.sizeBytes) {
    refuse(
      path,
      `its first header is not VDIF's (frames of ${first.frameBytes} bytes, ${2 ** first.log2Channels} channels of ${first.bits} bits, version ${first.version})`,
      'it is damaged, cut off at the front, or in another format',
    );
  }
  const { frameBytes, parts } = first;
  const channels = 2 ** first.log2Channels;
  const bits = first.bits as SampleBits;
  const packing = { bits, code: 'offset', inputs: channels, parts } as const;
  const samples = samplesIn(path, frameBytes - vdifHeaderBytes(first), packing);

  const count = Math.floor(file.sizeBytes / frameBytes);
  const windowFrames = Math.max(1, Math.min(count, Math.floor(WINDOW_BYTES / frameBytes)));
  const early = await headersIn(file, first, 0, windowFrames * frameBytes);
  const late = await headersIn(file, first, (count - windowFrames) * frameBytes, count * frameBytes);
  const threads = recurring([...early, ...late].map(({ thread }) => thread));
  const stationOf = stationsOf(path, [...early, ...late]);
  const rate = frameRate(path, [early, late], samples, options.sampleRateHz);
  const { perSecond } = rate;
  const correctionS = secondsOfOneThread(path, early, threads, options.secondsOfThread);
  const elapsed = (header: VdifHeader): number =>
    (header.seconds + (correctionS.get(header.thread) ?? 0)) * perSecond + header.frame;
  const spread = 4 * windowFrames;
  const usable = (headers: readonly VdifHeader[]): number[] =>
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
    const header = readVdifHeader(view, at);
    const sender = senderOf.get(header.thread);
    const good =
      sameKind(header, first) &&
      header.marked === 'valid' &&
      header.epoch === first.epoch &&
      sender !== undefined &&
      header.station === stationOf.get(header.thread);
    if (good) refuseBeyond(path, rate, header.frame);
    if (!good || header.frame >= perSecond) {
      tally.invalid++;
      return { consumed: frameBytes };
    }
    const payload = bytes.subarray(at + vdifHeaderBytes(first), at + frameBytes);
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
        complex: parts === 2,
        station: stationName(first.station),
        extension: first.legacy ? 'legacy' : first.extension[0] >>> 24,
        referenceEpoch: first.epoch,
        seconds: first.seconds,
        firstFrame: first.frame,
        ...(options.secondsOfThread !== undefined && { secondsOfThread: options.secondsOfThread }),
      },
      type: packedType(bits, parts),
      bits,
      ...unknownFactsOf({ frequency: options.centreFrequencyHz === undefined }),
      assumed: rate.assumed,
      inputs,
      polarisations: polarisationsFor(path, inputs, 1, options),
      samples: total,
      sampleRateHz,
      // By default the band starts at zero: its centre is R/4 (real) or 0 (complex).
      centreFrequencyHz: options.centreFrequencyHz ?? (parts === 2 ? 0 : sampleRateHz / 4),
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
function stationsOf(path: string, headers: readonly VdifHeader[]): Map<number, number> {
  const ofThread = new Map<number, number[]>();
  for (const { thread, station } of headers) {
    const stations = ofThread.get(thread) ?? [];
    if (stations.push(station) === 1) ofThread.set(thread, stations);
  }
  return new Map(
    [...ofThread].map(([thread, seen]) => {
      const stations = recurring(seen);
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
    const header = readVdifHeader(view, 0);
    if (!plausible(header)) return false;
    const synced =
      !header.legacy && [1, 3].includes(header.extension[0] >>> 24) && header.extension[1] === SYNC;
    return synced || /\.vdi?f$/i.test(path);
  },
  recogniseFrames: followEachOther,
  open: (path, options) => openOn(path, (file) => openFrames(file, options ?? {})),
};
