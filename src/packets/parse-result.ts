/**
 * The expected result of a native parser. Its table receives only numbers (`nativePlan`), and its results are compared
 * field by field with `parseResultOf`, for valid and damaged packets.
 */
import type { RefusalReason, StreamPlan } from './packet-format.js';
import { packetFormatNamed, packetCodeOf } from './registry.js';

export const parseCodes = {
  placed: 0,
  control: 1,
  invalid: 2,
  unknown_source: 3,
  misaligned: 4,
} as const satisfies Record<RefusalReason | 'placed' | 'control', number>;

export interface ParseResult {
  readonly code: number;
  /** The remaining fields are 0 unless the packet was placed. */
  readonly tick: bigint;
  readonly sender: number;
  readonly fragment: number;
  /** 0 if not in the packet. */
  readonly session: bigint;
  /** Offset of the payload in the datagram; the plan gives its length. */
  readonly payloadAt: number;
}

export function parseResultOf(datagram: Uint8Array, plan: StreamPlan): ParseResult {
  const facts = packetFormatNamed(plan.format).decode(datagram, plan);
  const nothing = { tick: 0n, sender: 0, fragment: 0, session: 0n, payloadAt: 0 };
  if (facts === 'control') return { code: parseCodes.control, ...nothing };
  if ('refused' in facts) return { code: parseCodes[facts.refused], ...nothing };
  const { tick, sender, fragment, session = 0n, payload } = facts;
  const payloadAt = payload.byteOffset - datagram.byteOffset;
  return { code: parseCodes.placed, tick, sender, fragment, session, payloadAt };
}

/** A plan in native form. */
interface NativePlan {
  readonly format: number;
  readonly senders: number;
  readonly fragments: number;
  readonly cellBytes: number;
  readonly ticksPerSlot: bigint;
  readonly wrapBits: number;
  /** numbers : format-specific, in the order of its `numbers`. */
  readonly numbers: BigInt64Array;
  /** sources : [sender]. */
  readonly sources: BigInt64Array;
}

export function nativePlan(plan: StreamPlan): NativePlan {
  const format = packetFormatNamed(plan.format);
  return {
    format: packetCodeOf(format),
    senders: plan.senders.length,
    fragments: plan.fragments,
    cellBytes: plan.cellBytes,
    ticksPerSlot: BigInt(plan.ticksPerSlot),
    wrapBits: plan.wrapBits,
    numbers: BigInt64Array.from(format.numbers, (name) => BigInt(plan.numbers[name])),
    sources: BigInt64Array.from(plan.sources, BigInt),
  };
}
