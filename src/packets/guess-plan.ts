/** A plan from packets alone, as far as possible. */
import { CorellaError } from '../core/errors.js';
import type { GuessHints, PacketFormat, ParsedPacket, StreamPlan } from './packet-format.js';
import { recogniseDatagram } from './registry.js';
import { mostCommon } from './survey.js';

interface GuessedPlan {
  readonly plan?: StreamPlan;
  /** What was inferred rather than read. */
  readonly concluded?: string;
  /** Why there is no plan, and what would help. */
  readonly unknown?: { readonly what: string; readonly fix: string };
}

/** The format that most datagrams match. */
export const commonFormat = (datagrams: readonly Uint8Array[]): PacketFormat | undefined =>
  mostCommon(datagrams.map(recogniseDatagram).filter((format) => format !== undefined));

/** The likely plan of a stream, from some of its packets: sources, channels and clock. */
export function guessPlan(
  format: PacketFormat,
  datagrams: readonly Uint8Array[],
  hints: GuessHints = {},
): GuessedPlan {
  const packets = datagrams.flatMap((datagram): ParsedPacket<unknown>[] => {
    const packet = format.parse(datagram);
    return 'refused' in packet ? [] : [packet];
  });
  if (packets.length === 0) {
    return { unknown: { what: 'anything: no datagram is such a packet', fix: 'check source.format' } };
  }
  const guess = format.guess(packets, hints);
  if (!('options' in guess)) return { unknown: { what: guess.unknown, fix: guess.fix } };
  try {
    const plan = format.plan(guess.options);
    return { plan, concluded: guess.concluded };
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    return {
      unknown: { what: `a plan (${error.what})`, fix: error.fix ?? 'its packets contradict each other' },
    };
  }
}
