/**
 * CHIPS, LWA-SV's F-engine packets: one spectrum of a board's 32 inputs, [channel][input] of 4 + 4 bits, the real part
 * in the high nibble. Sequence numbers count spectra since the F-engines' start. Only the control system knows that
 * time, and existing readers differ by one in the first number.
 */
import { refuse, wholeNumber } from '../core/errors.js';
import { rational } from '../core/clock/rational.js';
import type { SpectraSource } from '../core/sources.js';
import { formatHz } from '../core/units.js';
import { viewOf } from './bytes.js';
import { sendersSideBySide } from '../core/presence/presence.js';
import { recurring } from '../core/recurring.js';
import {
  invalid,
  packetFormat,
  placed,
  type Guess,
  type ParsedPacket,
  type RefusedPacket,
  type StreamPlan,
} from './packet-format.js';
import { checkedPlan, firstChannelOf, largestPart, MOST_PAYLOAD, numberedBand, upTo } from './planning.js';
import { mostCommon } from './survey.js';
import { tickItself } from './tick-fields.js';

export interface ChipsHeader {
  /** From 1. */
  readonly board: number;
  readonly tuning: number;
  readonly channels: number;
  readonly subbands: number;
  readonly subband: number;
  readonly boards: number;
  /** Its sky frequency is the number times 25 kHz. */
  readonly firstChannel: number;
  readonly sequence: bigint;
}

export interface ChipsOptions {
  /** Board numbers, from 1, in the order of their inputs. */
  readonly boards: readonly number[];
  /** Per packet. */
  readonly channels: number;
  readonly firstChannel: number;
  /** Packets side by side in frequency, if several subbands are received; by default 1. */
  readonly subbands?: number;
  /** The first sequence number; by default 1. */
  readonly sequenceFrom?: 0 | 1;
}

type Names = 'channels' | 'firstChannel' | 'sequenceFrom';

const HEADER_BYTES = 16;
const INPUTS = 32;
const CHANNEL_HZ = 25_000;

function parse(datagram: Uint8Array): ParsedPacket<ChipsHeader> | RefusedPacket {
  if (datagram.length < HEADER_BYTES) return invalid(`${datagram.length} bytes are too few for CHIPS`);
  const view = viewOf(datagram);
  const [board, tuning, channels, subbands, subband, boards] = datagram;
  if (channels === 0 || datagram.length !== HEADER_BYTES + channels * INPUTS) {
    return invalid(`${datagram.length} bytes do not hold ${channels} channels of ${INPUTS} inputs`);
  }
  const header = {
    board,
    tuning,
    channels,
    subbands,
    subband,
    boards,
    firstChannel: view.getUint16(6),
    sequence: view.getBigUint64(8),
  };
  return { header, payload: datagram.subarray(HEADER_BYTES) };
}

function write(header: ChipsHeader, payload: Uint8Array): Uint8Array {
  const datagram = new Uint8Array(HEADER_BYTES + payload.length);
  const { board, tuning, channels, subbands, subband, boards } = header;
  datagram.set([board, tuning, channels, subbands, subband, boards]);
  const view = new DataView(datagram.buffer);
  view.setUint16(6, header.firstChannel);
  view.setBigUint64(8, header.sequence);
  datagram.set(payload, HEADER_BYTES);
  return datagram;
}

function plan({
  boards,
  channels,
  firstChannel,
  subbands = 1,
  sequenceFrom = 1,
}: ChipsOptions): StreamPlan<Names> {
  wholeNumber('chips', 'channels', channels, 1, 255);
  wholeNumber('chips', 'firstChannel', firstChannel, 0, 2 ** 16 - subbands * channels);
  for (const board of boards) wholeNumber('chips', "a board's number", board, 1, 255);
  return checkedPlan({
    format: 'chips',
    holds: 'spectra',
    type: 'ci4',
    inputs: boards.length * INPUTS,
    channels: channels * subbands,
    senders: sendersSideBySide(boards.length, INPUTS, channels),
    sources: boards,
    fragments: subbands,
    cellBytes: channels * INPUTS,
    ticksPerSlot: 1,
    samplesPerSlot: 1,
    tickRateHz: rational(BigInt(CHANNEL_HZ)),
    wrapBits: 64,
    cell: {
      axes: ['t', 'c', 'a'],
      sizes: { c: channels, t: 1, a: INPUTS },
      parts: 2,
      bits: 4,
      code: 'twos-complement',
      bitsFrom: 'highest',
      levels: 'symmetric',
    },
    numbers: { channels, firstChannel, sequenceFrom },
  });
}

function guess(packets: readonly ParsedPacket<ChipsHeader>[]): Guess<ChipsOptions> {
  const channels = mostCommon(packets.map(({ header }) => header.channels)) ?? 0;
  const firsts = recurring(packets.map(({ header }) => header.firstChannel));
  const subbands = (firsts[firsts.length - 1] - firsts[0]) / channels + 1;
  if (!Number.isInteger(subbands)) {
    return {
      unknown: 'how its subbands lie',
      fix: 'they are not whole packets apart: inspect one at a time',
    };
  }
  const boards = recurring(packets.map(({ header }) => header.board)).filter((board) => board > 0);
  return { options: { boards, channels, firstChannel: firsts[0], subbands } };
}

function planOf(source: SpectraSource): StreamPlan<Names> {
  const { inputs, spectrumRateHz } = source;
  if (spectrumRateHz !== CHANNEL_HZ)
    refuse(
      'chips',
      `channels of ${formatHz(spectrumRateHz)}`,
      'choose source.rate and front.channels so that they are 25 kHz wide',
    );
  if (inputs % INPUTS !== 0)
    refuse(
      'chips',
      `${inputs} inputs are no whole boards of ${INPUTS}`,
      'choose 16, 32 … stations of two polarisations',
    );
  const channels = largestPart(source.channels, (part) => part <= 255 && part * INPUTS <= MOST_PAYLOAD);
  return plan({
    boards: upTo(inputs / INPUTS, 1),
    channels,
    subbands: source.channels / channels,
    firstChannel: firstChannelOf(source, 'chips', CHANNEL_HZ),
  });
}

export const chips = packetFormat<ChipsHeader, ChipsOptions, Names>({
  name: 'chips',
  title: "CHIPS, LWA-SV's F-engine",
  holds: 'spectra',
  epoch: {
    from: 'unknown',
    means: 'the second at which the F-engines were started, which the control system knows',
  },
  numbers: ['channels', 'firstChannel', 'sequenceFrom'],
  senderName: (board) => `board ${board}`,
  plan,
  parse,
  write,
  place: ({ header }, stream) => {
    const { channels, firstChannel, sequenceFrom } = stream.numbers;
    if (header.channels !== channels)
      return invalid(`${header.channels} channels where ${channels} are planned`);
    const beyond = header.firstChannel - firstChannel;
    if (beyond < 0 || beyond % channels !== 0 || beyond / channels >= stream.fragments) {
      return invalid(`channels from ${header.firstChannel} are not planned`);
    }
    return placed(stream, header.board, beyond / channels, header.sequence - BigInt(sequenceFrom));
  },
  headerOf: ({ tick, sender, fragment }, stream) => {
    const { channels, firstChannel, sequenceFrom } = stream.numbers;
    return {
      board: stream.sources[sender],
      tuning: 0,
      channels,
      subbands: stream.fragments,
      subband: fragment,
      boards: Math.max(...stream.sources),
      firstChannel: firstChannel + fragment * channels,
      sequence: tick + BigInt(sequenceFrom),
    };
  },
  tickFields: () => [tickItself(8, 8, 'big')],
  looksLike: ({ header }) =>
    header.board >= 1 && header.board <= header.boards && header.subband < Math.max(1, header.subbands),
  guess,
  band: ({ channels, numbers }) => numberedBand(channels, numbers.firstChannel, CHANNEL_HZ),
  sends: { spectra: ['ci4'], plan: planOf },
  example: () => ({
    plan: plan({ boards: [1, 2, 4], channels: 3, firstChannel: 1128, subbands: 2 }),
    firstTick: 25_000n,
  }),
});
