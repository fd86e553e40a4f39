/**
 * The ring: packets in, blocks with presence bits out, every packet accounted for. reference.ts is the law in
 * TypeScript, native/ the same in C++; both pass the cases of cases.ts.
 */
import type { Closable } from '../core/closing.js';
import type { Presence } from '../core/presence/presence.js';
import type { RingPlan } from './plan.js';

/**
 * What becomes of a packet, exactly one of these. Native code knows them by their place in the list.
 *   placed          its cell was empty, and holds it now
 *   duplicate       its cell was full: the first stays
 *   late, early     its time lies before the open blocks, or beyond them
 *   other_epoch     its times count from another second than the array's (SNAP2's sync time, VDIF's epoch)
 *   misaligned      its time lies between slots
 *   unknown_source  the plan does not name its sender
 *   invalid         no such packet, or not of this plan, or of a time that no calendar has
 *   control         descriptors and stream control: no data, nothing wrong
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
export const laneOutcomes = ['placed', 'duplicate', 'late', 'early', 'other_epoch', 'ring_full'] as const;
export type LaneOutcome = (typeof laneOutcomes)[number];

export interface LaneAccount {
  readonly outcomes: Readonly<Record<LaneOutcome, number>>;
  /** Of all blocks handed on, and of those that nobody sent. */
  readonly missingCells: number;
  /** Of the newest packet that was placed. */
  readonly newestTick: bigint | undefined;
  /** Packets of another clock than the lane's own, which went on meanwhile: two senders under one name. */
  readonly rivals: number;
}

/** packets = the sum of all outcomes; placed + missingCells = the cells of all blocks, skipped ones included. */
export interface RingAccount {
  readonly packets: number;
  readonly bytes: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Handed on. */
  readonly blocks: number;
  /** Between those, and nobody sent them. */
  readonly skippedBlocks: number;
  readonly missingCells: number;
  /** How often the senders' clocks were followed to another place. */
  readonly resyncs: number;
  /** How often they jumped to a place that was not believed (jumps.ts). */
  readonly refusedResyncs: number;
  readonly lanes: readonly LaneAccount[];
}

export interface ArrivedBlock {
  /** cells : [lane][fragment][slot][cellBytes]; zero where nothing came. */
  readonly cells: Uint8Array;
  /** Of its first slot; clocks that wrap are unwrapped. */
  readonly startTick: bigint;
  /** Grows at every resynchronisation. */
  readonly session: number;
  /** What tick 0 means, as the packets tell it; 0 where they do not. */
  readonly epoch: bigint;
  /** Whole blocks of this session that nobody sent, just before this one. */
  readonly skippedBlocks: number;
  readonly presence: Presence;
  readonly missingCells: number;
  /** When its first packet came. */
  readonly arrivedUnixNs: bigint;
  /** Where the memory is, for native code. */
  readonly address?: bigint;
  /** Gives the memory back. Once; again does nothing. */
  release(): void;
}

interface Ring extends Closable {
  readonly plan: RingPlan;
  /** The next block that is ready. */
  take(): ArrivedBlock | undefined;
  /** Hands on what is begun: nobody speaks, or the night is over. */
  flush(): void;
  account(): RingAccount;
}

/** One that is handed packets one by one. */
export interface FedRing extends Ring {
  feed(datagram: Uint8Array, unixNs?: bigint): Outcome;
  /** Blocks of memory that nobody uses. A packet takes one at most. */
  freeBlocks(): number;
}
