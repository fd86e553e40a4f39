/**
 * What a packet format must offer. Each format is one file that exports a `PacketFormat`, and one line in registry.ts;
 * its native parser is one file of receive/native/formats, and one line in registry.h there.
 * Decoders are pure and never throw, whatever the bytes: a datagram is placed, is control, or is refused with the
 * reason it is counted under. They are the oracle of native parsers (verdict.ts).
 */
import type { SpectraType, VoltageType } from '../core/axes.js';
import type { Rational } from '../core/clock/rational.js';
import type { Instant } from '../core/instant.js';
import type { CellLayout } from '../core/presence/presence.js';
import type { SpectraSource, VoltageSource } from '../core/sources.js';
import type { CellOrder } from './cell.js';
import type { TickField } from './tick-fields.js';

/** Which cell a packet fills: who sent it, which part of the band it holds, and when. */
export interface PacketPlace {
  /** Of the sender's clock, as sent: a clock that wraps is unwrapped by whoever knows what came before. */
  readonly tick: bigint;
  readonly lane: number;
  readonly fragment: number;
  /** What tick 0 means, where the packet tells: SNAP2's sync time, VDIF's reference epoch. */
  readonly session?: bigint;
}

export interface PacketFacts extends PacketPlace {
  /** One cell, a view of the datagram. */
  readonly payload: Uint8Array;
}

/**
 * `invalid`: not such a packet, or not of this plan. `unknown_source`: a sender that the plan does not name.
 * `misaligned`: a time between slots.
 */
export type RefusalReason = 'invalid' | 'unknown_source' | 'misaligned';
export interface RefusedPacket {
  readonly refused: RefusalReason;
  readonly why: string;
}

/** A packet by itself, before anyone asks where it belongs. */
export interface ParsedPacket<Header> {
  readonly header: Header;
  readonly payload: Uint8Array;
}

/** What a format's own checks compare with: whole numbers alone, so that a native parser can be handed them. */
type PlanNumbers<Names extends string = string> = Readonly<Record<Names, number>>;

/** Where the cells of a stream go. Plain data. */
export interface StreamPlan<Names extends string = string> extends CellLayout {
  /** The name of the packet format. */
  readonly format: string;
  readonly holds: 'spectra' | 'voltages';
  /** What the corner turn makes of the cells. */
  readonly type: SpectraType | VoltageType;
  readonly inputs: number;
  readonly channels: number;
  /** sources[lane] : the number by which a packet names its sender. */
  readonly sources: readonly number[];
  readonly cellBytes: number;
  /** Clock ticks from one packet of a lane to the next. */
  readonly ticksPerSlot: number;
  /** Ticks a second; absent where neither the format nor the operator told. */
  readonly tickRateHz?: Rational;
  readonly wrapBits: 32 | 48 | 64;
  readonly cell: CellOrder;
  readonly numbers: PlanNumbers<Names>;
}

/** What a few packets tell of a stream, or what the operator must add. */
export type Guess<Options> =
  | { readonly options: Options; /** What was concluded, not told. */ readonly concluded?: string }
  | { readonly unknown: string; readonly fix: string };

/** What the operator may know. */
export interface GuessHints {
  /** Samples a second (VDIF numbers frames within a second, and needs it), clock ticks (SPEAD) or spectra (SNAP2). */
  readonly rateHz?: number;
}

/** Where tick 0 lies in UTC: told by every packet, or by nobody. */
type PacketEpoch =
  | {
      readonly told: 'packet';
      of(session: bigint | undefined): Instant;
      /** The last session whose epoch is not after a moment; absent where all packets have one epoch. */
      sessionAt?(unixSeconds: number): bigint;
    }
  | { readonly told: 'nobody'; readonly means: string };

export interface SpectraBand {
  /** frequenciesHz : [c], the middle of each channel. */
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}
interface VoltageBand {
  /** Of the middle of the band. */
  readonly centreFrequencyHz: number;
}
export type Band = SpectraBand | VoltageBand;

/** Which recordings can be sent as packets of a format, and how such a stream is planned. */
type Sending<Names extends string> =
  | {
      /** Types of spectra; voltages are channelised to the first. */
      readonly spectra: readonly SpectraType[];
      plan(source: SpectraSource): StreamPlan<Names>;
    }
  | {
      readonly voltages: readonly VoltageType[];
      /** Bits of a packet's samples that are kept in i16, where there is no type of so many: i8 is widened. */
      readonly keptInI16?: number;
      plan(source: VoltageSource): StreamPlan<Names>;
    };

/** A small stream, from which shared cases and the fuzzer make packets. */
export interface ExampleStream {
  readonly plan: StreamPlan;
  /** A multiple of ticksPerSlot. */
  readonly firstTick: bigint;
  readonly session?: bigint;
}

interface FormatParts<Header, Options, Names extends string> {
  readonly name: string;
  readonly title: string;
  readonly holds: 'spectra' | 'voltages';
  readonly epoch: PacketEpoch;
  /** The names of the plan's numbers, in the order a native parser takes them. */
  readonly numbers: readonly Names[];
  /** For people: who a source number is. */
  senderName(source: number): string;
  /** Refuses what cannot be. */
  plan(options: Options): StreamPlan<Names>;
  /** Never throws. */
  parse(datagram: Uint8Array): ParsedPacket<Header> | RefusedPacket;
  /** write(parse(x)) is x, byte for byte. */
  write(header: Header, payload: Uint8Array): Uint8Array;
  /** Never throws. `control`: no data, and nothing is wrong. */
  place(packet: ParsedPacket<Header>, plan: StreamPlan<Names>): PacketPlace | 'control' | RefusedPacket;
  /** What a sender writes before a cell. */
  headerOf(place: PacketPlace, plan: StreamPlan<Names>): Header;
  /** Where a header follows the clock, and nothing else of it does. */
  tickFields(plan: StreamPlan<Names>): readonly TickField[];
  /** Stricter than `parse`, for telling formats apart. */
  looksLike(packet: ParsedPacket<Header>): boolean;
  /** Options that fit the packets at hand, which are all of this format. */
  guess(packets: readonly ParsedPacket<Header>[], hints: GuessHints): Guess<Options>;
  /** Sky frequencies of a stream, where packets number channels from a known place; undefined where they do not. */
  band?(plan: StreamPlan<Names>): Band | undefined;
  readonly sends: Sending<Names>;
  /** A packet without data that senders repeat every few seconds, where a receiver needs one. */
  describe?(plan: StreamPlan<Names>): Uint8Array;
  example(): ExampleStream;
}

export interface PacketFormat<
  Header = unknown,
  Options = unknown,
  Names extends string = string,
> extends FormatParts<Header, Options, Names> {
  decode(datagram: Uint8Array, plan: StreamPlan<Names>): PacketFacts | 'control' | RefusedPacket;
  encode(place: PacketPlace, payload: Uint8Array, plan: StreamPlan<Names>): Uint8Array;
  recognise(datagram: Uint8Array): boolean;
}

export function packetFormat<Header, Options, Names extends string>(
  parts: FormatParts<Header, Options, Names>,
): PacketFormat<Header, Options, Names> {
  return {
    ...parts,
    decode: (datagram, plan) => {
      const packet = parts.parse(datagram);
      if ('refused' in packet) return packet;
      const place = parts.place(packet, plan);
      return place === 'control' || 'refused' in place ? place : { ...place, payload: packet.payload };
    },
    encode: (place, payload, plan) => parts.write(parts.headerOf(place, plan), payload),
    recognise: (datagram) => {
      const packet = parts.parse(datagram);
      return !('refused' in packet) && parts.looksLike(packet);
    },
  };
}

export const invalid = (why: string): RefusedPacket => ({ refused: 'invalid', why });

/** Beyond this a tick is damaged: native code counts in 63 bits. */
export const MOST_TICK = 2n ** 63n - 1n;

/** The lane of a source and its tick, checked last and alike by all formats. */
export function placed(
  plan: StreamPlan,
  source: number,
  fragment: number,
  tick: bigint,
  session?: bigint,
): PacketPlace | RefusedPacket {
  if (tick < 0n || tick > MOST_TICK) return invalid(`tick ${tick} is none`);
  const lane = plan.sources.indexOf(source);
  if (lane < 0) return { refused: 'unknown_source', why: `nobody named ${source} is in the plan` };
  if (tick % BigInt(plan.ticksPerSlot) !== 0n) {
    return { refused: 'misaligned', why: `tick ${tick} is no multiple of ${plan.ticksPerSlot}` };
  }
  return { tick, lane, fragment, ...(session === undefined ? {} : { session }) };
}
