/**
 * The ring: packets in, blocks with presence bits out, every packet counted. reference.ts is the reference in
 * TypeScript, native/ is the same in C++; both pass the cases of cases.ts.
 */
import type { Closable } from '../core/closing.js';
import type { Presence } from '../core/presence/presence.js';
import type { RingPlan } from './plan.js';

/**
 * Each packet has exactly one outcome. Native code numbers them by their place in the list.
 *   placed          its packet slot was empty and now holds it
 *   duplicate       its packet slot was full: the first packet stays
 *   late, early     its time is before the open blocks, or after them
 *   other_epoch     its epoch differs from the array's (SNAP2's sync time, VDIF's epoch)
 *   misaligned      its time is between slots
 *   unknown_source  the plan does not name its sender
 *   invalid         no such packet, or not of this plan, or its time is outside the calendar
 *   control         descriptors and stream control: no data, not an error
 *   ring_full       no block was free: the consumer is too slow
 */
export const outcomes = [
  'placed',
  'duplicate',
  'late',
  'early',
  'other_epoch',
  'misaligned',
  'unknown_source',
  'invalid',
  'control',
  'ring_full',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Those whose sender is known. */
export const senderOutcomes = ['placed', 'duplicate', 'late', 'early', 'other_epoch', 'ring_full'] as const;
export type SenderOutcome = (typeof senderOutcomes)[number];

export interface SenderCounts {
  readonly outcomes: Readonly<Record<SenderOutcome, number>>;
  /** In all blocks, delivered and skipped. */
  readonly missingCells: number;
  /** Tick of the newest placed packet. */
  readonly newestTick: bigint | undefined;
  /** Packets of a clock other than the source's own while that one continued: two senders with one ID. */
  readonly duplicateIdPackets: number;
}

/** packets = the sum of all outcomes; placed + missingCells = the packet slots of all blocks, skipped ones included. */
export interface RingAccount {
  readonly packets: number;
  readonly bytes: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Delivered blocks. */
  readonly blocks: number;
  /** Empty blocks between those. */
  readonly skippedBlocks: number;
  readonly missingCells: number;
  /** How often a jump of the senders' clocks was followed. */
  readonly resyncs: number;
  /** How often a jump of the senders' clocks was refused (jumps.ts). */
  readonly refusedResyncs: number;
  readonly senders: readonly SenderCounts[];
}

export interface ArrivedBlock {
  /** cells : [sender][fragment][slot][cellBytes]; zero where packets are missing. */
  readonly cells: Uint8Array;
  /** Tick of its first slot; wrapping clocks are unwrapped. */
  readonly startTick: bigint;
  /** Incremented at every resynchronisation. */
  readonly session: number;
  /** What tick 0 means, from the packets; 0 if they do not carry it. */
  readonly epoch: bigint;
  /** Empty blocks of this stream epoch just before this one. */
  readonly skippedBlocks: number;
  readonly presence: Presence;
  readonly missingCells: number;
  /** Arrival time of its first packet. */
  readonly arrivedUnixNs: bigint;
  /** The memory address, for native code. */
  readonly address?: bigint;
  /** Releases the memory; further calls do nothing. */
  release(): void;
}

interface Ring extends Closable {
  readonly plan: RingPlan;
  /** The next block that is ready. */
  take(): ArrivedBlock | undefined;
  /** Delivers the open blocks: after a timeout, or at the end of the run. */
  flush(): void;
  account(): RingAccount;
}

/** A ring that is fed packet by packet. */
export interface FedRing extends Ring {
  feed(datagram: Uint8Array, unixNs?: bigint): Outcome;
  /** Unused blocks of memory. A packet takes one at most. */
  freeBlocks(): number;
}
