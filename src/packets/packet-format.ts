/**
 * What a packet format must provide. Each format is one file that exports a `PacketFormat`, and one line in
 * registry.ts; its native parser is one file of receive/native/formats, and one line in registry.h there. Decoders are
 * pure and never throw, whatever the bytes: a datagram is placed, is control, or is refused with the reason it is
 * counted under. They are the reference for the native parsers (parse-result.ts).
 */
import type { SpectraType, VoltageType } from '../core/axes.js';
import type { Rational } from '../core/clock/rational.js';
import type { Instant } from '../core/instant.js';
import type { CellLayout } from '../core/presence/presence.js';
import type { SpectraSource, VoltageSource } from '../core/sources.js';
import type { CellOrder } from './cell.js';
import type { TickField } from './tick-fields.js';

/** Which packet slot a packet fills: its sender, its part of the band, and its time. */
export interface PacketPlace {
  /** Of the sender's clock, as sent: a wrapping clock is unwrapped later, from the packets before. */
  readonly tick: bigint;
  readonly sender: number;
  readonly fragment: number;
  /** What tick 0 means, if the packet carries it: SNAP2's sync time, VDIF's reference epoch. */
  readonly session?: bigint;
}

export interface PacketFacts extends PacketPlace {
  /** The payload, a view of the datagram. */
  readonly payload: Uint8Array;
}

/**
 * `invalid`: not such a packet, or not of this plan. `unknown_source`: a sender that is not in the plan. `misaligned`:
 * a time between slots.
 */
export type RefusalReason = 'invalid' | 'unknown_source' | 'misaligned';
export interface RefusedPacket {
  readonly refused: RefusalReason;
  readonly why: string;
}

/** A parsed packet, independent of any plan. */
export interface ParsedPacket<Header> {
  readonly header: Header;
  readonly payload: Uint8Array;
}

/** The numbers that a format's own checks compare with: integers only, so that a native parser can receive them. */
type PlanNumbers<Names extends string = string> = Readonly<Record<Names, number>>;

/** Where the packets of a stream go. Plain data. */
export interface StreamPlan<Names extends string = string> extends CellLayout {
  /** The name of the packet format. */
  readonly format: string;
  readonly holds: 'spectra' | 'voltages';
  /** The sample type after the corner turn. */
  readonly type: SpectraType | VoltageType;
  readonly inputs: number;
  readonly channels: number;
  /** sources[sender] : the sender's ID in the packets. */
  readonly sources: readonly number[];
  readonly cellBytes: number;
  /** Clock ticks from one packet of a source to the next. */
  readonly ticksPerSlot: number;
  /** Ticks per second; absent if neither the format nor the operator gives it. */
  readonly tickRateHz?: Rational;
  readonly wrapBits: 32 | 48 | 64;
  readonly cell: CellOrder;
  readonly numbers: PlanNumbers<Names>;
}

/** What a few packets reveal of a stream, or what the operator must add. */
export type Guess<Options> =
  | { readonly options: Options; /** What was inferred rather than read. */ readonly concluded?: string }
  | { readonly unknown: string; readonly fix: string };

/** What the operator may know. */
export interface GuessHints {
  /** Samples per second (needed for VDIF, which numbers frames per second), clock ticks (SPEAD) or spectra (SNAP2). */
  readonly rateHz?: number;
}

/** Where tick 0 is in UTC: in every packet, or in none. */
type PacketEpoch =
  | {
      readonly from: 'packet';
      of(session: bigint | undefined): Instant;
      /** The last stream epoch that is not after a given time; absent if all packets have one epoch. */
      sessionAt?(unixSeconds: number): bigint;
    }
  | { readonly from: 'unknown'; readonly means: string };

export interface SpectraBand {
  /** frequenciesHz : [c], the centre of each channel. */
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}
interface VoltageBand {
  /** Centre of the band. */
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
      /** Bits per sample of a packet that are kept in i16, if there is no type of that width: i8 is widened. */
      readonly keptInI16?: number;
      plan(source: VoltageSource): StreamPlan<Names>;
    };

/** A small stream, from which the shared cases and the fuzzer make packets. */
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
  /** The names of the plan's numbers, in the native parser's order. */
  readonly numbers: readonly Names[];
  /** For display: the name of a source number. */
  senderName(source: number): string;
  /** Refuses impossible options. */
  plan(options: Options): StreamPlan<Names>;
  /** Never throws. */
  parse(datagram: Uint8Array): ParsedPacket<Header> | RefusedPacket;
  /** write(parse(x)) is x, byte for byte. */
  write(header: Header, payload: Uint8Array): Uint8Array;
  /** Never throws. `control`: no data, not an error. */
  place(packet: ParsedPacket<Header>, plan: StreamPlan<Names>): PacketPlace | 'control' | RefusedPacket;
  /** The header that a sender writes before the payload. */
  headerOf(place: PacketPlace, plan: StreamPlan<Names>): Header;
  /** The only header fields that depend on the clock. */
  tickFields(plan: StreamPlan<Names>): readonly TickField[];
  /** Stricter than `parse`, to identify a format. */
  looksLike(packet: ParsedPacket<Header>): boolean;
  /** Options that fit the given packets, which are all of this format. */
  guess(packets: readonly ParsedPacket<Header>[], hints: GuessHints): Guess<Options>;
  /** Sky frequencies of a stream, if packets number channels from a known origin; otherwise undefined. */
  band?(plan: StreamPlan<Names>): Band | undefined;
  readonly sends: Sending<Names>;
  /** A packet without data that senders repeat every few seconds, if receivers need one. */
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

/** A larger tick is damaged: native code counts in 63 bits. */
export const MOST_TICK = 2n ** 63n - 1n;

/** The source and its tick, checked last, in the same way for all formats. */
export function placed(
  plan: StreamPlan,
  source: number,
  fragment: number,
  tick: bigint,
  session?: bigint,
): PacketPlace | RefusedPacket {
  if (tick < 0n || tick > MOST_TICK) return invalid(`tick ${tick} is out of range`);
  const sender = plan.sources.indexOf(source);
  if (sender < 0) return { refused: 'unknown_source', why: `sender ${source} is not in the plan` };
  if (tick % BigInt(plan.ticksPerSlot) !== 0n) {
    return { refused: 'misaligned', why: `tick ${tick} is no multiple of ${plan.ticksPerSlot}` };
  }
  return { tick, sender, fragment, session };
}
