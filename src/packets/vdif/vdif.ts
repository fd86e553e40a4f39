/**
 * VDIF frames in datagrams, bare or after VTP's 8 bytes: a sequence number that reveals losses, while the frame gives
 * the position. A frame has no absolute number: its tick is seconds · frames per second + frame, so the sample rate
 * must be known. Inputs are threads in the order of the plan, each with its channels.
 */
import { refuse, wholeNumber } from '../../core/errors.js';
import { vdifEpochAt, vdifEpochUnixSeconds } from '../../core/clock/epochs.js';
import { rational } from '../../core/clock/rational.js';
import { instant } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import {
  isSampleBits,
  namedRateHz,
  packedType,
  readVdifHeader,
  stationName,
  vdifHeaderBytes,
  type SampleBits,
  type VdifHeader,
} from '../../core/vdif-header.js';
import { viewOf } from '../bytes.js';
import type { CellBits } from '../cell.js';
import { sendersSideBySide } from '../../core/presence/presence.js';
import { recurring } from '../../core/recurring.js';
import {
  invalid,
  packetFormat,
  placed,
  type Guess,
  type GuessHints,
  type PacketFormat,
  type ParsedPacket,
  type RefusedPacket,
  type StreamPlan,
} from '../packet-format.js';
import { checkedPlan, largestPart, MOST_PAYLOAD, upTo } from '../planning.js';
import { mostCommon } from '../survey.js';
import { tickItself, type TickField } from '../tick-fields.js';

export interface VdifOptions {
  /** In input order. */
  readonly threads: readonly { readonly thread: number; readonly station: number }[];
  /** Inputs per thread: a power of two. */
  readonly channels?: number;
  readonly parts: 1 | 2;
  readonly bits: SampleBits;
  /** Header and samples. */
  readonly frameBytes: number;
  readonly header?: 'whole' | 'legacy';
  /** Per channel. */
  readonly sampleRateHz: number;
}

type Names = 'headerBytes' | 'framesPerSecond' | 'log2Channels' | 'parts' | 'bits';

export function parseVdif(datagram: Uint8Array): ParsedPacket<VdifHeader> | RefusedPacket {
  if (datagram.length < 16) return invalid(`${datagram.length} bytes are too few for VDIF`);
  const header = readVdifHeader(viewOf(datagram));
  const headerBytes = vdifHeaderBytes(header);
  if (header.frameBytes !== datagram.length || header.frameBytes <= headerBytes)
    return invalid(`${datagram.length} bytes where the header says ${header.frameBytes}`);
  return { header, payload: datagram.subarray(headerBytes) };
}

export function writeVdif(header: VdifHeader, payload: Uint8Array): Uint8Array {
  const start = vdifHeaderBytes(header);
  const frame = new Uint8Array(start + payload.length);
  const view = new DataView(frame.buffer);
  const words = [
    (header.marked === 'invalid' ? 2 ** 31 : 0) + (header.legacy ? 2 ** 30 : 0) + header.seconds,
    header.unassigned * 2 ** 30 + header.epoch * 2 ** 24 + header.frame,
    header.version * 2 ** 29 + header.log2Channels * 2 ** 24 + header.frameBytes / 8,
    (header.parts === 2 ? 2 ** 31 : 0) +
      (header.bits - 1) * 2 ** 26 +
      header.thread * 2 ** 16 +
      header.station,
    ...header.extension,
  ];
  words.forEach((word, k) => {
    view.setUint32(4 * k, word, true);
  });
  frame.set(payload, start);
  return frame;
}

/** A frame identifies its sender by station and thread. */
const sourceOf = ({ station, thread }: { readonly station: number; readonly thread: number }): number =>
  station * 1024 + thread;

function planAs(format: 'vdif' | 'vdif-vtp', options: VdifOptions): StreamPlan<Names> {
  const { threads, channels = 1, parts, bits, frameBytes, sampleRateHz } = options;
  const headerBytes = options.header === 'legacy' ? 16 : 32;
  const log2Channels = Math.log2(wholeNumber(format, 'channels', channels, 1, 4096));
  if (!Number.isInteger(log2Channels))
    refuse(format, `${channels} channels in a thread`, 'give a power of two');
  for (const { thread, station } of threads) {
    wholeNumber(format, 'a thread', thread, 0, 1023);
    wholeNumber(format, "a station's number", station, 0, 65_535);
  }
  wholeNumber(format, 'frameBytes', frameBytes, headerBytes + 8, 65_504);
  if (frameBytes % 8 !== 0) refuse(format, `frames of ${frameBytes} bytes`, 'give a multiple of 8');
  const cellBytes = frameBytes - headerBytes;
  const samples = (cellBytes * 8) / (bits * parts * channels);
  const framesPerSecond = sampleRateHz / samples;
  if (!Number.isInteger(samples) || !Number.isInteger(framesPerSecond) || framesPerSecond < 1) {
    refuse(
      format,
      `${sampleRateHz} samples a second are not a whole number of frames of ${samples} samples`,
      'give the sample rate of each channel with source.rate',
    );
  }
  return checkedPlan({
    format,
    holds: 'voltages',
    type: packedType(bits, parts),
    inputs: threads.length * channels,
    channels: 1,
    senders: sendersSideBySide(threads.length, channels, 1),
    sources: threads.map(sourceOf),
    fragments: 1,
    cellBytes,
    ticksPerSlot: 1,
    samplesPerSlot: samples,
    tickRateHz: rational(BigInt(framesPerSecond)),
    wrapBits: 64,
    cell: {
      axes: ['c', 't', 'a'],
      sizes: { c: 1, t: samples, a: channels },
      parts,
      bits: bits satisfies CellBits,
      code: 'offset',
      bitsFrom: 'lowest',
      levels: 'all',
    },
    numbers: { headerBytes, framesPerSecond, log2Channels, parts, bits },
  });
}

function guess(packets: readonly ParsedPacket<VdifHeader>[], hints: GuessHints): Guess<VdifOptions> {
  const headers = packets.map(({ header }) => header);
  const frameBytes = mostCommon(headers.map((header) => header.frameBytes)) ?? 0;
  const same = headers.filter((header) => header.frameBytes === frameBytes);
  const bits = mostCommon(same.map((header) => header.bits)) ?? 0;
  if (!isSampleBits(bits)) {
    return { unknown: `how ${bits} bits a sample lie`, fix: 'frames of 1, 2, 4, 8 and 16 bits are read' };
  }
  const parts = mostCommon(same.map((header) => header.parts)) ?? 1;
  const legacy = mostCommon(same.map((header) => header.legacy)) === true;
  const channels = 2 ** (mostCommon(same.map((header) => header.log2Channels)) ?? 0);
  const samples = ((frameBytes - (legacy ? 16 : 32)) * 8) / (bits * parts * channels);
  const named = mostCommon(same.map(namedRateHz));
  const framesPerSecond = framesBeforeWrap(same);
  const sampleRateHz =
    hints.rateHz ?? named ?? (framesPerSecond === undefined ? undefined : framesPerSecond * samples);
  if (sampleRateHz === undefined) {
    return {
      unknown: 'its sample rate: no extension names it, and no second ends in what was read',
      fix: 'give source.rate, the samples a second of each channel',
    };
  }
  const threads = recurring(same.map(sourceOf)).map((source) => ({
    station: Math.floor(source / 1024),
    thread: source % 1024,
  }));
  const header = legacy ? 'legacy' : 'whole';
  return {
    options: { threads, channels, parts, bits, frameBytes, header, sampleRateHz },
    ...(hints.rateHz === undefined && named === undefined
      ? { concluded: 'the sample rate, from the highest frame number before a second ended' }
      : {}),
  };
}

/** Frames per second, if the headers cover the end of a second: the highest number before the next second begins. */
function framesBeforeWrap(headers: readonly VdifHeader[]): number | undefined {
  const highest = new Map<number, number>();
  for (const { seconds, frame } of headers) highest.set(seconds, Math.max(highest.get(seconds) ?? 0, frame));
  const whole = [...highest].filter(([second]) => highest.has(second + 1)).map(([, frame]) => frame + 1);
  return whole.length === 0 ? undefined : Math.max(...whole);
}

function optionsOf({ inputs, polarisations, type, sampleRateHz }: VoltageSource): VdifOptions {
  const parts = type === 'ci8' ? 2 : 1;
  const fits = (part: number): boolean => (part * parts) % 8 === 0 && part * parts <= MOST_PAYLOAD;
  const samples = largestPart(sampleRateHz, fits);
  return {
    threads: upTo(inputs).map((input) => ({
      station: 1 + Math.floor(input / polarisations),
      thread: input % polarisations,
    })),
    parts,
    bits: 8,
    frameBytes: 32 + samples * parts,
    sampleRateHz,
  };
}

const exampleFrames: VdifOptions = {
  threads: [
    { thread: 0, station: 0x436f },
    { thread: 3, station: 0x436f },
  ],
  channels: 2,
  parts: 2,
  bits: 8,
  frameBytes: 32 + 2 * 2 * 16,
  sampleRateHz: 16 * 1000,
};

/** Eight bytes, little-endian, as MeerKAT's sender writes them. */
export interface VtpHeader extends VdifHeader {
  readonly sequence: bigint;
}

function formatAs<Header extends VdifHeader>(
  parts: Pick<
    PacketFormat<Header, VdifOptions, Names>,
    'title' | 'parse' | 'write' | 'headerOf' | 'tickFields'
  > & {
    readonly name: 'vdif' | 'vdif-vtp';
  },
): PacketFormat<Header, VdifOptions, Names> {
  return packetFormat<Header, VdifOptions, Names>({
    ...parts,
    holds: 'voltages',
    epoch: {
      from: 'packet',
      of: (session) => instant(vdifEpochUnixSeconds(Number(session ?? 0n))),
      sessionAt: (unixSeconds) => BigInt(vdifEpochAt(unixSeconds)),
    },
    numbers: ['headerBytes', 'framesPerSecond', 'log2Channels', 'parts', 'bits'],
    senderName: (source) => `${stationName(Math.floor(source / 1024))} thread ${source % 1024}`,
    plan: (options) => planAs(parts.name, options),
    place: ({ header, payload }, stream) => {
      const { headerBytes, framesPerSecond, log2Channels, parts: planned, bits } = stream.numbers;
      if (
        vdifHeaderBytes(header) !== headerBytes ||
        payload.length !== stream.cellBytes ||
        header.log2Channels !== log2Channels ||
        header.parts !== planned ||
        header.bits !== bits
      ) {
        return invalid(
          `${payload.length} bytes of ${2 ** header.log2Channels} channels, ${header.bits} bits, ${header.parts === 2 ? 'complex' : 'real'}: not as planned`,
        );
      }
      if (header.marked === 'invalid') return invalid('its recorder marked it invalid');
      if (header.frame >= framesPerSecond)
        return invalid(`frame ${header.frame} of a second of ${framesPerSecond}`);
      const tick = BigInt(header.seconds) * BigInt(framesPerSecond) + BigInt(header.frame);
      return placed(stream, sourceOf(header), 0, tick, BigInt(header.epoch));
    },
    looksLike: ({ header }) => header.version <= 1 && isSampleBits(header.bits) && header.log2Channels <= 12,
    guess,
    sends: {
      voltages: ['i8', 'ci8'],
      plan: (source: VoltageSource) => planAs(parts.name, optionsOf(source)),
    },
    example: () => ({
      plan: planAs(parts.name, exampleFrames),
      firstTick: 13_000_000n * 1000n + 998n,
      session: 50n,
    }),
  });
}

const frameHeader = (
  { tick, sender, session }: { readonly tick: bigint; readonly sender: number; readonly session?: bigint },
  stream: StreamPlan<Names>,
): VdifHeader => {
  const { headerBytes, framesPerSecond, log2Channels, parts, bits } = stream.numbers;
  const perSecond = BigInt(framesPerSecond);
  return {
    marked: 'valid',
    legacy: headerBytes === 16,
    seconds: Number(tick / perSecond),
    epoch: Number(session ?? refuse(stream.format, 'no reference epoch', 'give the half-years since 2000')),
    frame: Number(tick % perSecond),
    version: 0,
    log2Channels,
    frameBytes: headerBytes + stream.cellBytes,
    parts: parts === 2 ? 2 : 1,
    bits,
    thread: stream.sources[sender] % 1024,
    station: Math.floor(stream.sources[sender] / 1024),
    unassigned: 0,
    extension: headerBytes === 16 ? [] : [0, 0, 0, 0],
  };
};

const frameFields = (
  { numbers: { framesPerSecond } }: StreamPlan<Names>,
  frameAt: number,
): readonly TickField[] => [
  tickItself(frameAt, 4, 'little', { divide: framesPerSecond }),
  tickItself(frameAt + 4, 3, 'little', { modulo: framesPerSecond }),
];

export const vdif = formatAs<VdifHeader>({
  name: 'vdif',
  title: 'VDIF',
  parse: parseVdif,
  write: writeVdif,
  headerOf: frameHeader,
  tickFields: (stream) => frameFields(stream, 0),
});

const VTP_BYTES = 8;

export const vdifVtp = formatAs<VtpHeader>({
  name: 'vdif-vtp',
  title: 'VDIF behind VTP',
  parse: (datagram) => {
    if (datagram.length < VTP_BYTES) return invalid(`${datagram.length} bytes are too few for VTP`);
    const frame = parseVdif(datagram.subarray(VTP_BYTES));
    if ('refused' in frame) return frame;
    const view = viewOf(datagram);
    return { header: { ...frame.header, sequence: view.getBigUint64(0, true) }, payload: frame.payload };
  },
  write: (header, payload) => {
    const frame = writeVdif(header, payload);
    const datagram = new Uint8Array(VTP_BYTES + frame.length);
    new DataView(datagram.buffer).setBigUint64(0, header.sequence, true);
    datagram.set(frame, VTP_BYTES);
    return datagram;
  },
  // One counter over all threads of a slot in turn: the count of a sender without losses.
  headerOf: (place, stream) => ({
    ...frameHeader(place, stream),
    sequence: place.tick * BigInt(stream.sources.length) + BigInt(place.sender),
  }),
  tickFields: (stream) => [
    tickItself(0, 8, 'little', { times: stream.sources.length }),
    ...frameFields(stream, VTP_BYTES),
  ],
});
