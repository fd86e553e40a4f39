/** Packets written in hexadecimal, and the expected result of a decoder. */
import assert from 'node:assert/strict';
import type { PacketFacts, PacketFormat, RefusalReason, StreamPlan } from '../packet-format.js';

/** Spaces are for readability. */
export const hex = (text: string): Uint8Array =>
  Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

export function placedBy<Names extends string>(
  format: Pick<PacketFormat<unknown, unknown, Names>, 'decode'>,
  datagram: Uint8Array,
  plan: StreamPlan<Names>,
): PacketFacts {
  const facts = format.decode(datagram, plan);
  if (facts === 'control' || 'refused' in facts) assert.fail(JSON.stringify(facts));
  return facts;
}

export function refusedBy<Names extends string>(
  format: Pick<PacketFormat<unknown, unknown, Names>, 'decode'>,
  datagram: Uint8Array,
  plan: StreamPlan<Names>,
  reason: RefusalReason,
  why: RegExp,
): void {
  const facts = format.decode(datagram, plan);
  if (facts === 'control' || !('refused' in facts)) assert.fail('it was taken');
  assert.equal(facts.refused, reason, facts.why);
  assert.match(facts.why, why);
}

/** The datagram with some bytes replaced. */
export function changed(datagram: Uint8Array, at: number, bytes: string): Uint8Array {
  const copy = datagram.slice();
  copy.set(hex(bytes), at);
  return copy;
}
