/**
 * MeerKAT's F-engine heaps: channelised voltages, [channel][spectrum][polarisation] of (re, im), as katgpucbf sends
 * them. Sources are identified by feng_id, never by heap number, which different F-engines may share. Each packet is
 * placed by its offset, so that a heap with a lost packet keeps the others.
 */
import { refuse, wholeNumber } from '../../core/errors.js';
import { rational, rationalOf, type Rational } from '../../core/clock/rational.js';
import { powerOfTwoFrom } from '../../core/round-up.js';
import type { SpectraSource } from '../../core/sources.js';
import { sendersSideBySide } from '../../core/presence/presence.js';
import { recurring } from '../../core/recurring.js';
import {
  invalid,
  packetFormat,
  placed,
  type Guess,
  type GuessHints,
  type ParsedPacket,
  type StreamPlan,
} from '../packet-format.js';
import { checkedPlan, largestPart, MOST_PAYLOAD, upTo } from '../planning.js';
import { mostCommon, commonStep } from '../survey.js';
import { hasData, heapFacts } from './data-heap.js';
import { descriptorsOf, inside } from './descriptors.js';
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

const ids = { source: 0x4101, samples: 0x4300 } as const;
const FREQUENCY = 0x4103;

export interface FengOptions {
  /** feng_id of each station, in station order. */
  readonly antennas: readonly number[];
  /** Number of the first channel received. */
  readonly firstChannel: number;
  readonly channelsPerHeap: number;
  /** Heaps side by side in frequency, if several streams are received; by default 1. */
  readonly heaps?: number;
  readonly spectraPerHeap: number;
  /** Clock ticks (digitiser samples) from one spectrum to the next. */
  readonly ticksPerSpectrum: number;
  /** Payload per packet. */
  readonly packetBytes: number;
  readonly polarisations?: 1 | 2;
  /** Per part (real or imaginary) of a sample. */
  readonly bits?: 4 | 8;
  /** The digitisers' clock. */
  readonly clockRateHz?: Rational;
}

type Names = 'heapBytes' | 'packetsPerHeap' | 'firstChannel' | 'channelsPerHeap';

function plan(options: FengOptions): StreamPlan<Names> {
  const {
    antennas,
    channelsPerHeap,
    spectraPerHeap,
    packetBytes,
    heaps = 1,
    polarisations = 2,
    bits = 8,
  } = options;
  for (const name of ['channelsPerHeap', 'spectraPerHeap', 'packetBytes', 'ticksPerSpectrum'] as const) {
    wholeNumber('spead-feng', name, options[name], 1, 2 ** 31);
  }
  const heapBytes = (channelsPerHeap * spectraPerHeap * polarisations * 2 * bits) / 8;
  const channelsPerPacket = (channelsPerHeap * packetBytes) / heapBytes;
  if (!Number.isInteger(channelsPerPacket) || channelsPerHeap % channelsPerPacket !== 0) {
    refuse(
      'spead-feng',
      `packets of ${packetBytes} bytes do not hold whole channels of ${heapBytes / channelsPerHeap} bytes, or do not fill a heap of ${channelsPerHeap}`,
      'give the payload of one packet',
    );
  }
  const packetsPerHeap = channelsPerHeap / channelsPerPacket;
  return checkedPlan({
    format: 'spead-feng',
    holds: 'spectra',
    type: bits === 8 ? 'ci8' : 'ci4',
    inputs: antennas.length * polarisations,
    channels: channelsPerHeap * heaps,
    senders: sendersSideBySide(antennas.length, polarisations, channelsPerPacket),
    sources: antennas,
    fragments: packetsPerHeap * heaps,
    cellBytes: packetBytes,
    ticksPerSlot: options.ticksPerSpectrum * spectraPerHeap,
    samplesPerSlot: spectraPerHeap,
    ...(options.clockRateHz && { tickRateHz: options.clockRateHz }),
    wrapBits: 48,
    cell: {
      axes: ['c', 't', 'a'],
      sizes: { c: channelsPerPacket, t: spectraPerHeap, a: polarisations },
      parts: 2,
      bits,
      code: 'twos-complement',
      bitsFrom: 'highest',
      levels: 'symmetric',
    },
    numbers: { heapBytes, packetsPerHeap, firstChannel: options.firstChannel, channelsPerHeap },
  });
}

/** Only the descriptor gives the channels, spectra and polarisations of a heap. */
function guess(packets: readonly ParsedPacket<SpeadHeader>[], { rateHz }: GuessHints): Guess<FengOptions> {
  const data = packets.filter(({ header }) => hasData(header, ids));
  const value = (header: SpeadHeader, id: number): number => Number(itemOf(header, id) ?? -1n);
  const received = data.map(({ header }) => ({
    source: value(header, ids.source),
    tick: itemOf(header, speadIds.timestamp) ?? 0n,
  }));
  const unknown = (what: string, fix: string): Guess<FengOptions> => ({ unknown: what, fix });
  const described = packets.flatMap(descriptorsOf).filter(({ id }) => id === ids.samples);
  const shapes = [...new Set(described.map(({ shape, type }) => `(${shape.join(', ')}) of ${type}`))];
  if (shapes.length > 1)
    return unknown(
      `one shape of its heaps: feng_raw is ${shapes.join(' by one descriptor, ')} by another`,
      'record senders that are set up alike',
    );
  const [channelsPerHeap, spectraPerHeap, polarisations] = described.at(0)?.shape ?? [];
  if (!(channelsPerHeap > 0 && spectraPerHeap > 0) || (polarisations !== 1 && polarisations !== 2)) {
    return unknown(
      'how many channels and spectra a heap holds (no descriptor of feng_raw came)',
      'record for longer: descriptors come every few seconds',
    );
  }
  const step = commonStep(received, 48);
  if (step === undefined) return unknown('the time between heaps', 'record more than one heap of a sender');
  const frequencies = recurring(data.map(({ header }) => value(header, FREQUENCY)));
  const packetBytes = mostCommon(data.map(({ payload }) => payload.length)) ?? 0;
  const heapBytes = mostCommon(data.map(({ header }) => Number(header.heapBytes ?? 0n))) ?? 0;
  const bits = (heapBytes * 8) / (channelsPerHeap * spectraPerHeap * polarisations * 2);
  const ticksPerSpectrum = Number(step) / spectraPerHeap;
  const firstChannel = frequencies[0];
  const heaps = (frequencies[frequencies.length - 1] - firstChannel) / channelsPerHeap + 1;
  if ((bits !== 4 && bits !== 8) || !Number.isInteger(ticksPerSpectrum) || !Number.isInteger(heaps)) {
    return unknown('a layout that fits its heaps', 'the descriptor and the packets disagree');
  }
  return {
    options: {
      antennas: recurring(received.map(({ source }) => source)),
      ...(rateHz === undefined ? {} : { clockRateHz: rationalOf(rateHz) }),
      firstChannel,
      channelsPerHeap,
      heaps,
      spectraPerHeap,
      ticksPerSpectrum,
      packetBytes,
      polarisations,
      bits,
    },
  };
}

/** Spectra per heap, as MeerKAT sends. */
const HEAP_SPECTRA = 256;

function planOf({ inputs, polarisations, type, channels, spectrumRateHz }: SpectraSource): StreamPlan<Names> {
  const bits = type === 'ci8' ? 8 : 4;
  const ticksPerSpectrum = powerOfTwoFrom(2 * channels);
  const bytesOfChannel = (HEAP_SPECTRA * polarisations * 2 * bits) / 8;
  return plan({
    antennas: upTo(inputs / polarisations),
    firstChannel: 0,
    channelsPerHeap: channels,
    spectraPerHeap: HEAP_SPECTRA,
    ticksPerSpectrum,
    packetBytes: largestPart(channels, (part) => part * bytesOfChannel <= MOST_PAYLOAD) * bytesOfChannel,
    polarisations,
    bits,
    clockRateHz: rationalOf(spectrumRateHz * ticksPerSpectrum),
  });
}

export const speadFeng = packetFormat<SpeadHeader, FengOptions, Names>({
  name: 'spead-feng',
  title: "SPEAD, an F-engine's channelised voltages (MeerKAT)",
  holds: 'spectra',
  epoch: { from: 'unknown', means: "the digitisers' sync time, which the control system knows" },
  numbers: ['heapBytes', 'packetsPerHeap', 'firstChannel', 'channelsPerHeap'],
  senderName: (source) => `feng_id ${source}`,
  plan,
  parse: parseSpead,
  write: writeSpead,
  place: (packet, stream) => {
    const { heapBytes, packetsPerHeap, firstChannel, channelsPerHeap } = stream.numbers;
    const facts = heapFacts(packet, ids, { heapBytes, cellBytes: stream.cellBytes });
    if (facts === 'control' || 'refused' in facts) return facts;
    const frequency = itemOf(packet.header, FREQUENCY);
    if (frequency === undefined) return invalid('no frequency (item 0x4103)');
    const beyond = Number(frequency) - firstChannel;
    const heap = Math.floor(beyond / channelsPerHeap);
    if (beyond < 0 || beyond % channelsPerHeap !== 0 || heap * packetsPerHeap >= stream.fragments) {
      return invalid(`channels from ${frequency} are not planned`);
    }
    return placed(stream, Number(facts.source), heap * packetsPerHeap + facts.packet, facts.timestamp);
  },
  headerOf: ({ tick, sender, fragment }, stream) => {
    const { heapBytes, packetsPerHeap, firstChannel, channelsPerHeap } = stream.numbers;
    const heaps = stream.fragments / packetsPerHeap;
    const which = Math.floor(fragment / packetsPerHeap);
    const slot = tick / BigInt(stream.ticksPerSlot);
    return speadHeader(
      {
        // Spaced so that no two F-engines share a number.
        heap: (slot * BigInt(stream.sources.length) + BigInt(sender)) * BigInt(heaps) + BigInt(which),
        heapBytes,
        offset: (fragment - which * packetsPerHeap) * stream.cellBytes,
        payloadBytes: stream.cellBytes,
      },
      [
        immediate(speadIds.timestamp, tick),
        immediate(ids.source, BigInt(stream.sources[sender])),
        immediate(FREQUENCY, BigInt(firstChannel + which * channelsPerHeap)),
        address(ids.samples, 0n),
      ],
    );
  },
  tickFields: ({ ticksPerSlot, sources, fragments, numbers: { packetsPerHeap } }) => [
    itemField(0, { divide: ticksPerSlot, times: (sources.length * fragments) / packetsPerHeap }),
    itemField(4),
  ],
  looksLike: ({ header }) => hasData(header, ids),
  guess,
  sends: { spectra: ['ci8', 'ci4'], plan: planOf },
  describe: fengDescriptor,
  example: () => ({
    plan: plan({
      antennas: [0, 1, 5],
      firstChannel: 48,
      channelsPerHeap: 8,
      heaps: 2,
      spectraPerHeap: 4,
      ticksPerSpectrum: 2048,
      packetBytes: 64,
      clockRateHz: rational(1_712_000_000n),
    }),
    firstTick: 2n ** 48n - 4n * 2048n * 3n,
  }),
});

function fengDescriptor({ cell, numbers }: StreamPlan): Uint8Array {
  const shape = [numbers.channelsPerHeap, cell.sizes.t, cell.sizes.a, ...(cell.bits === 8 ? [2] : [])];
  const texts: readonly (readonly [number, string])[] = [
    [inside.name, 'feng_raw'],
    [inside.description, 'Channelised complex digital voltages'],
    [
      inside.numpy,
      `{'shape': (${shape.join(', ')}), 'fortran_order': False, 'descr': '${cell.bits === 8 ? '|i1' : '|u1'}'}`,
    ],
  ];
  const bytes = texts.map(([, text]) => new TextEncoder().encode(text));
  const starts = bytes.map((_, n) => bytes.slice(0, n).reduce((sum, { length }) => sum + length, 0));
  const payload = Buffer.concat(bytes);
  const descriptor = packet(payload, [
    immediate(inside.id, BigInt(ids.samples)),
    ...texts.map(([id], n) => address(id, BigInt(starts[n]))),
  ]);
  return packet(descriptor, [address(speadIds.descriptor, 0n)]);
}

function packet(payload: Uint8Array, items: Parameters<typeof speadHeader>[1]): Uint8Array {
  const place = { heap: 1n, heapBytes: payload.length, offset: 0, payloadBytes: payload.length };
  return writeSpead(speadHeader(place, items), payload);
}
