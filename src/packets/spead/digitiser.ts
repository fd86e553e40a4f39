/**
 * MeerKAT's digitiser heaps: real voltages of 10 bits, most significant bit first, without padding; one packet per
 * heap. The lowest bit of digitiser_id is the polarisation.
 */
import { wholeNumber } from '../../core/errors.js';
import { rationalOf, type Rational } from '../../core/clock/rational.js';
import type { VoltageSource } from '../../core/sources.js';
import { sendersSideBySide } from '../../core/presence/presence.js';
import { recurring } from '../../core/recurring.js';
import {
  packetFormat,
  placed,
  type Guess,
  type GuessHints,
  type ParsedPacket,
  type StreamPlan,
} from '../packet-format.js';
import { checkedPlan, upTo } from '../planning.js';
import { mostCommon } from '../survey.js';
import { hasData, heapFacts } from './data-heap.js';
import {
  address,
  immediate,
  itemField,
  itemOf,
  parseSpead,
  speadHeader,
  speadIds,
  writeSpead,
  type SpeadHeader,
} from './packet.js';

const ids = { source: 0x3101, samples: 0x3300 } as const;
const STATUS = 0x3102;

export interface DigitiserOptions {
  /** digitiser_id of each input, in input order. */
  readonly digitisers: readonly number[];
  readonly samplesPerHeap: number;
  readonly sampleRateHz?: Rational;
}

const BITS = 10;
/** Samples of a heap that we send, as MeerKAT does. */
const SENT_SAMPLES = 4096;

function plan({ digitisers, samplesPerHeap, sampleRateHz }: DigitiserOptions): StreamPlan<'heapBytes'> {
  wholeNumber('spead-digitiser', 'samplesPerHeap', samplesPerHeap, 1, 2 ** 20);
  const heapBytes = (samplesPerHeap * BITS) / 8;
  return checkedPlan({
    format: 'spead-digitiser',
    holds: 'voltages',
    type: 'i16',
    inputs: digitisers.length,
    channels: 1,
    senders: sendersSideBySide(digitisers.length, 1, 1),
    sources: digitisers,
    fragments: 1,
    cellBytes: heapBytes,
    ticksPerSlot: samplesPerHeap,
    samplesPerSlot: samplesPerHeap,
    ...(sampleRateHz && { tickRateHz: sampleRateHz }),
    wrapBits: 48,
    cell: {
      axes: ['c', 'a', 't'],
      sizes: { c: 1, t: samplesPerHeap, a: 1 },
      parts: 1,
      bits: BITS,
      code: 'twos-complement',
      bitsFrom: 'highest',
      levels: 'all',
    },
    numbers: { heapBytes },
  });
}

function guess(
  packets: readonly ParsedPacket<SpeadHeader>[],
  { rateHz }: GuessHints,
): Guess<DigitiserOptions> {
  const data = packets.filter(({ header }) => hasData(header, ids));
  const bytes = mostCommon(data.map(({ payload }) => payload.length)) ?? 0;
  if (bytes === 0 || (bytes * 8) % BITS !== 0) {
    return { unknown: 'how many samples a heap holds', fix: `${bytes} bytes are no whole number of 10 bits` };
  }
  return {
    options: {
      digitisers: recurring(data.map(({ header }) => Number(itemOf(header, ids.source) ?? 0n))),
      samplesPerHeap: (bytes * 8) / BITS,
      ...(rateHz === undefined ? {} : { sampleRateHz: rationalOf(rateHz) }),
    },
  };
}

export const speadDigitiser = packetFormat<SpeadHeader, DigitiserOptions, 'heapBytes'>({
  name: 'spead-digitiser',
  title: "SPEAD, a digitiser's voltages of 10 bits (MeerKAT)",
  holds: 'voltages',
  epoch: { from: 'unknown', means: "the digitisers' sync time, which the control system knows" },
  numbers: ['heapBytes'],
  senderName: (source) => `digitiser_id ${source}`,
  plan,
  parse: parseSpead,
  write: writeSpead,
  place: (packet, stream) => {
    const facts = heapFacts(packet, ids, {
      heapBytes: stream.numbers.heapBytes,
      cellBytes: stream.cellBytes,
    });
    if (facts === 'control' || 'refused' in facts) return facts;
    return placed(stream, Number(facts.source), facts.packet, facts.timestamp);
  },
  headerOf: ({ tick, sender }, stream) =>
    speadHeader(
      {
        heap: (tick / BigInt(stream.ticksPerSlot)) * BigInt(stream.sources.length) + BigInt(sender),
        heapBytes: stream.numbers.heapBytes,
        offset: 0,
        payloadBytes: stream.cellBytes,
      },
      [
        immediate(speadIds.timestamp, tick),
        immediate(ids.source, BigInt(stream.sources[sender])),
        immediate(STATUS, 0n),
        address(ids.samples, 0n),
      ],
    ),
  tickFields: ({ ticksPerSlot, sources }) => [
    itemField(0, { divide: ticksPerSlot, times: sources.length }),
    itemField(4),
  ],
  looksLike: ({ header }) => hasData(header, ids),
  guess,
  sends: {
    voltages: ['i16', 'i8'],
    keptInI16: BITS,
    plan: ({ inputs, sampleRateHz }: VoltageSource) =>
      plan({
        digitisers: upTo(inputs),
        samplesPerHeap: SENT_SAMPLES,
        sampleRateHz: rationalOf(sampleRateHz),
      }),
  },
  example: () => ({
    plan: plan({ digitisers: [0, 1, 6, 7], samplesPerHeap: 64 }),
    firstTick: 2n ** 48n - 64n * 3n,
  }),
});
