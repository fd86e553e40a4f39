/**
 * SNAP2, the F-engine packets of OVRO-LWA, LWA1 and LWA-NA: one spectrum of some signals and channels,
 * [channel][signal] of 4 + 4 bits, the real part in the high nibble. Every packet carries the second from which its
 * sequence numbers count.
 */
import { refuse, wholeNumber } from '../core/errors.js';
import { numberOf, rational, rationalOf, type Rational } from '../core/clock/rational.js';
import { instant } from '../core/instant.js';
import type { SpectraSource } from '../core/sources.js';
import { sendersSideBySide } from '../core/presence/presence.js';
import { recurring } from '../core/recurring.js';
import { viewOf } from './bytes.js';
import {
  invalid,
  packetFormat,
  placed,
  type Guess,
  type GuessHints,
  type ParsedPacket,
  type RefusedPacket,
  type StreamPlan,
} from './packet-format.js';
import { checkedPlan, firstChannelOf, largestPart, MOST_PAYLOAD, numberedBand, upTo } from './planning.js';
import { mostCommon } from './survey.js';
import { tickItself } from './tick-fields.js';

export interface Snap2Header {
  readonly sequence: bigint;
  /** Unix seconds. */
  readonly syncTime: number;
  readonly signals: number;
  readonly signalsInAll: number;
  readonly channels: number;
  readonly channelsInAll: number;
  /** Number of this channel block. */
  readonly block: number;
  readonly firstChannel: number;
  readonly firstSignal: number;
}

export interface Snap2Options {
  /** In total, from `firstSignal` on. */
  readonly signals: number;
  readonly signalsPerPacket: number;
  readonly firstSignal?: number;
  /** In total, from `firstChannel` on. */
  readonly channels: number;
  readonly channelsPerPacket: number;
  readonly firstChannel: number;
  /** Not in the packets: OVRO-LWA's is 196 MHz / 8192. */
  readonly spectrumRateHz?: Rational;
}

type Names = 'signals' | 'channels' | 'firstChannel';

const HEADER_BYTES = 32;

function parse(datagram: Uint8Array): ParsedPacket<Snap2Header> | RefusedPacket {
  if (datagram.length < HEADER_BYTES) return invalid(`${datagram.length} bytes are too few for SNAP2`);
  const view = viewOf(datagram);
  const header: Snap2Header = {
    sequence: view.getBigUint64(0),
    syncTime: view.getUint32(8),
    signals: view.getUint16(12),
    signalsInAll: view.getUint16(14),
    channels: view.getUint16(16),
    channelsInAll: view.getUint16(18),
    block: view.getUint32(20),
    firstChannel: view.getUint32(24),
    firstSignal: view.getUint32(28),
  };
  const { signals, channels } = header;
  if (signals * channels === 0 || datagram.length !== HEADER_BYTES + signals * channels) {
    return invalid(`${datagram.length} bytes do not hold ${channels} channels of ${signals} signals`);
  }
  return { header, payload: datagram.subarray(HEADER_BYTES) };
}

function write(header: Snap2Header, payload: Uint8Array): Uint8Array {
  const datagram = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(datagram.buffer);
  view.setBigUint64(0, header.sequence);
  view.setUint32(8, header.syncTime);
  view.setUint16(12, header.signals);
  view.setUint16(14, header.signalsInAll);
  view.setUint16(16, header.channels);
  view.setUint16(18, header.channelsInAll);
  view.setUint32(20, header.block);
  view.setUint32(24, header.firstChannel);
  view.setUint32(28, header.firstSignal);
  datagram.set(payload, HEADER_BYTES);
  return datagram;
}

/** The whole number of packets side by side. */
function packetsIn(what: string, all: number, each: number): number {
  wholeNumber('snap2', `${what} in a packet`, each, 1, 2 ** 16 - 1);
  wholeNumber('snap2', what, all, 1, 2 ** 16 - 1);
  return all % each === 0
    ? all / each
    : refuse(
        'snap2',
        `${all} ${what} are no whole number of packets of ${each}`,
        `give a multiple of ${each}`,
      );
}

function plan(options: Snap2Options): StreamPlan<Names> {
  const { signals, signalsPerPacket, channels, channelsPerPacket, firstChannel, firstSignal = 0 } = options;
  const boards = packetsIn('signals', signals, signalsPerPacket);
  const fragments = packetsIn('channels', channels, channelsPerPacket);
  wholeNumber('snap2', 'firstChannel', firstChannel, 0, 2 ** 32 - channels);
  wholeNumber('snap2', 'firstSignal', firstSignal, 0, 2 ** 32 - signals);
  return checkedPlan({
    format: 'snap2',
    holds: 'spectra',
    type: 'ci4',
    inputs: signals,
    channels,
    senders: sendersSideBySide(boards, signalsPerPacket, channelsPerPacket),
    sources: upTo(boards).map((board) => firstSignal + board * signalsPerPacket),
    fragments,
    cellBytes: signalsPerPacket * channelsPerPacket,
    ticksPerSlot: 1,
    samplesPerSlot: 1,
    ...(options.spectrumRateHz && { tickRateHz: options.spectrumRateHz }),
    wrapBits: 64,
    cell: {
      axes: ['t', 'c', 'a'],
      sizes: { c: channelsPerPacket, t: 1, a: signalsPerPacket },
      parts: 2,
      bits: 4,
      code: 'twos-complement',
      bitsFrom: 'highest',
      levels: 'symmetric',
    },
    numbers: { signals: signalsPerPacket, channels: channelsPerPacket, firstChannel },
  });
}

function guess(packets: readonly ParsedPacket<Snap2Header>[], { rateHz }: GuessHints): Guess<Snap2Options> {
  const signalsPerPacket = mostCommon(packets.map(({ header }) => header.signals)) ?? 0;
  const channelsPerPacket = mostCommon(packets.map(({ header }) => header.channels)) ?? 0;
  const firstSignals = recurring(packets.map(({ header }) => header.firstSignal));
  const firstChannels = recurring(packets.map(({ header }) => header.firstChannel));
  const span = (firsts: readonly number[], each: number): number =>
    firsts[firsts.length - 1] - firsts[0] + each;
  const signals = span(firstSignals, signalsPerPacket);
  const channels = span(firstChannels, channelsPerPacket);
  if (signals % signalsPerPacket !== 0 || channels % channelsPerPacket !== 0) {
    return { unknown: 'how its packets lie', fix: 'they are not whole packets apart' };
  }
  const [firstSignal, firstChannel] = [firstSignals[0], firstChannels[0]];
  return {
    options: {
      signals,
      signalsPerPacket,
      firstSignal,
      channels,
      channelsPerPacket,
      firstChannel,
      ...(rateHz === undefined ? {} : { spectrumRateHz: rationalOf(rateHz) }),
    },
  };
}

function planOf(source: SpectraSource): StreamPlan<Names> {
  const { inputs, channels, spectrumRateHz } = source;
  const signals = largestPart(inputs, (part) => part <= 64);
  return plan({
    signals: inputs,
    signalsPerPacket: signals,
    channels,
    channelsPerPacket: largestPart(channels, (part) => part * signals <= MOST_PAYLOAD),
    firstChannel: firstChannelOf(source, 'snap2', spectrumRateHz),
    spectrumRateHz: rationalOf(spectrumRateHz),
  });
}

export const snap2 = packetFormat<Snap2Header, Snap2Options, Names>({
  name: 'snap2',
  title: "SNAP2, OVRO-LWA's and LWA-NA's F-engine",
  holds: 'spectra',
  epoch: {
    from: 'packet',
    of: (session) => instant(Number(session ?? 0n)),
    sessionAt: (unixSeconds) => BigInt(unixSeconds),
  },
  numbers: ['signals', 'channels', 'firstChannel'],
  senderName: (signal) => `signals from ${signal}`,
  plan,
  parse,
  write,
  place: ({ header }, stream) => {
    const { signals, channels, firstChannel } = stream.numbers;
    if (header.syncTime === 0) return invalid('sync time 0: a stream without epoch');
    if (header.signals !== signals || header.channels !== channels) {
      return invalid(
        `${header.channels} channels of ${header.signals} signals where ${channels} of ${signals} are planned`,
      );
    }
    const beyond = header.firstChannel - firstChannel;
    if (beyond < 0 || beyond % channels !== 0 || beyond / channels >= stream.fragments) {
      return invalid(`channels from ${header.firstChannel} are not planned`);
    }
    return placed(stream, header.firstSignal, beyond / channels, header.sequence, BigInt(header.syncTime));
  },
  headerOf: ({ tick, sender, fragment, session }, stream) => {
    const { signals, channels, firstChannel } = stream.numbers;
    return {
      sequence: tick,
      syncTime: Number(session ?? 0n) || refuse('snap2', 'no sync time', 'give the time of tick 0'),
      signals,
      signalsInAll: stream.inputs,
      channels,
      channelsInAll: stream.channels,
      block: fragment,
      firstChannel: firstChannel + fragment * channels,
      firstSignal: stream.sources[sender],
    };
  },
  tickFields: () => [tickItself(0, 8, 'big')],
  looksLike: ({ header }) =>
    header.firstSignal + header.signals <= header.signalsInAll && header.channels <= header.channelsInAll,
  guess,
  // Critically sampled: the channel width equals the spectrum rate.
  band: ({ channels, numbers, tickRateHz }) =>
    tickRateHz && numberedBand(channels, numbers.firstChannel, numberOf(tickRateHz)),
  sends: { spectra: ['ci4'], plan: planOf },
  example: () => ({
    plan: plan({
      signals: 12,
      signalsPerPacket: 4,
      channels: 6,
      channelsPerPacket: 3,
      firstChannel: 1000,
      spectrumRateHz: rational(196_000_000n, 8192n),
    }),
    firstTick: 9600n,
    session: 1_700_000_000n,
  }),
});
