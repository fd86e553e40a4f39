/**
 * MWA's receiver packets: 2048 complex samples of 8 bits of one tile and polarisation in one coarse channel. Critically
 * sampled packets (1.28 MHz) and oversampled ones (1.6384 MHz) may be mixed; a plan takes one kind. Times are GPS
 * seconds, without leap seconds.
 */
import { refuse, wholeNumber } from '../core/errors.js';
import { GPS_EPOCH_UNIX_SECONDS } from '../core/clock/epochs.js';
import { rational } from '../core/clock/rational.js';
import { instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
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
import { checkedPlan, upTo } from './planning.js';
import { mostCommon } from './survey.js';
import { tickItself } from './tick-fields.js';

const mwaKinds = {
  critical: { code: 0x20, packetsPerSecond: 625, word: 'critically sampled' },
  oversampled: { code: 0x30, packetsPerSecond: 800, word: 'oversampled' },
} as const;
type MwaKind = keyof typeof mwaKinds;

export interface MwaHeader {
  readonly kind: MwaKind;
  /** The centre is this number times 1.28 MHz. */
  readonly coarseChannel: number;
  /** Tile · 2 + polarisation, 0 for X and 1 for Y. */
  readonly input: number;
  readonly gpsSecond: number;
  /** Within the second. */
  readonly packet: number;
  readonly sender: number;
  readonly token: number;
  /** Bytes 10, 14 and 15. */
  readonly spare: readonly [number, number, number];
}

export interface MwaOptions {
  readonly kind?: MwaKind;
  readonly coarseChannel: number;
  /** Tile · 2 + polarisation of each input, in input order. */
  readonly inputs: readonly number[];
}

type Names = 'code' | 'coarseChannel' | 'packetsPerSecond';

const HEADER_BYTES = 16;
const SAMPLES = 2048;
const COARSE_HZ = 1_280_000;

const kindOf = (code: number): MwaKind | undefined =>
  (['critical', 'oversampled'] as const).find((kind) => mwaKinds[kind].code === code);

function parse(datagram: Uint8Array): ParsedPacket<MwaHeader> | RefusedPacket {
  if (datagram.length !== HEADER_BYTES + 2 * SAMPLES) {
    return invalid(`${datagram.length} bytes where MWA's packets have ${HEADER_BYTES + 2 * SAMPLES}`);
  }
  const kind = kindOf(datagram[0]);
  if (!kind) return invalid(`type 0x${datagram[0].toString(16)} is neither 0x20 nor 0x30`);
  const view = viewOf(datagram);
  const header: MwaHeader = {
    kind,
    coarseChannel: datagram[1],
    input: view.getUint16(2),
    gpsSecond: view.getUint32(4),
    packet: view.getUint16(8),
    sender: datagram[11],
    token: view.getUint16(12),
    spare: [datagram[10], datagram[14], datagram[15]],
  };
  return { header, payload: datagram.subarray(HEADER_BYTES) };
}

function write(header: MwaHeader, payload: Uint8Array): Uint8Array {
  const datagram = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(datagram.buffer);
  datagram[0] = mwaKinds[header.kind].code;
  datagram[1] = header.coarseChannel;
  view.setUint16(2, header.input);
  view.setUint32(4, header.gpsSecond);
  view.setUint16(8, header.packet);
  datagram[10] = header.spare[0];
  datagram[11] = header.sender;
  view.setUint16(12, header.token);
  datagram[14] = header.spare[1];
  datagram[15] = header.spare[2];
  datagram.set(payload, HEADER_BYTES);
  return datagram;
}

function plan({ kind = 'critical', coarseChannel, inputs }: MwaOptions): StreamPlan<Names> {
  const { code, packetsPerSecond } = mwaKinds[kind];
  wholeNumber('mwa', 'coarseChannel', coarseChannel, 0, 255);
  for (const input of inputs) wholeNumber('mwa', 'an input (tile · 2 + polarisation)', input, 0, 2 ** 16 - 1);
  return checkedPlan({
    format: 'mwa',
    holds: 'voltages',
    type: 'ci8',
    inputs: inputs.length,
    channels: 1,
    senders: sendersSideBySide(inputs.length, 1, 1),
    sources: inputs,
    fragments: 1,
    cellBytes: 2 * SAMPLES,
    ticksPerSlot: 1,
    samplesPerSlot: SAMPLES,
    tickRateHz: rational(BigInt(packetsPerSecond)),
    wrapBits: 64,
    cell: {
      axes: ['c', 'a', 't'],
      sizes: { c: 1, t: SAMPLES, a: 1 },
      parts: 2,
      bits: 8,
      code: 'twos-complement',
      bitsFrom: 'highest',
      levels: 'all',
    },
    numbers: { code, coarseChannel, packetsPerSecond },
  });
}

function guess(packets: readonly ParsedPacket<MwaHeader>[]): Guess<MwaOptions> {
  const kind = mostCommon(packets.map(({ header }) => header.kind)) ?? 'critical';
  const coarseChannel = mostCommon(packets.map(({ header }) => header.coarseChannel)) ?? 0;
  return {
    options: { kind, coarseChannel, inputs: recurring(packets.map(({ header }) => header.input)) },
  };
}

function planOf({ inputs, sampleRateHz, centreFrequencyHz }: VoltageSource): StreamPlan<Names> {
  const coarseChannel = centreFrequencyHz / COARSE_HZ;
  if (sampleRateHz !== COARSE_HZ || !Number.isInteger(coarseChannel))
    refuse(
      'mwa',
      `${formatHz(sampleRateHz)} around ${formatHz(centreFrequencyHz)}`,
      'its coarse channels are 1.28 MHz wide, around multiples of 1.28 MHz',
    );
  return plan({ coarseChannel, inputs: upTo(inputs) });
}

export const mwa = packetFormat<MwaHeader, MwaOptions, Names>({
  name: 'mwa',
  title: "MWA's receivers",
  holds: 'voltages',
  epoch: { from: 'packet', of: () => instant(GPS_EPOCH_UNIX_SECONDS) },
  numbers: ['code', 'coarseChannel', 'packetsPerSecond'],
  senderName: (input) => `tile ${input >> 1} ${input & 1 ? 'Y' : 'X'}`,
  plan,
  parse,
  write,
  place: ({ header }, stream) => {
    const { code, coarseChannel, packetsPerSecond } = stream.numbers;
    if (mwaKinds[header.kind].code !== code) {
      return invalid(`${mwaKinds[header.kind].word} packets are not planned`);
    }
    if (header.coarseChannel !== coarseChannel) {
      return invalid(`coarse channel ${header.coarseChannel} where ${coarseChannel} is planned`);
    }
    if (header.packet >= packetsPerSecond) {
      return invalid(`packet ${header.packet} of a second of ${packetsPerSecond}`);
    }
    const tick = BigInt(header.gpsSecond) * BigInt(packetsPerSecond) + BigInt(header.packet);
    return placed(stream, header.input, 0, tick);
  },
  headerOf: ({ tick, sender }, stream) => {
    const { code, coarseChannel, packetsPerSecond } = stream.numbers;
    const perSecond = BigInt(packetsPerSecond);
    return {
      kind: kindOf(code) ?? 'critical',
      coarseChannel,
      input: stream.sources[sender],
      gpsSecond: Number(tick / perSecond),
      packet: Number(tick % perSecond),
      sender: 0,
      token: 0,
      spare: [0, 0, 0],
    };
  },
  tickFields: ({ numbers: { packetsPerSecond } }) => [
    tickItself(4, 4, 'big', { divide: packetsPerSecond }),
    tickItself(8, 2, 'big', { modulo: packetsPerSecond }),
  ],
  looksLike: ({ header }) => header.packet < mwaKinds[header.kind].packetsPerSecond,
  guess,
  band: ({ numbers: { coarseChannel } }) => ({ centreFrequencyHz: coarseChannel * COARSE_HZ }),
  sends: { voltages: ['ci8'], plan: planOf },
  example: () => ({
    plan: plan({ coarseChannel: 137, inputs: [22, 23, 24, 25] }),
    firstTick: 1_425_000_007n * 625n + 623n,
  }),
});
