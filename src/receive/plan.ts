/** How a stream's packets are gathered into blocks: how long a block is, how many there are, how far clocks may go. Pure. */
import { refuse, wholeNumber } from '../core/errors.js';
import { numberOf } from '../core/clock/rational.js';
import type { StreamPlan } from '../packets/packet-format.js';

export interface RingPlan {
  readonly stream: StreamPlan;
  /** Block n holds the ticks from n · slotsPerBlock · ticksPerSlot on, of the senders' own clock, on every machine. */
  readonly slotsPerBlock: number;
  /** Memory for so many: open, waiting and held by the consumer. */
  readonly blocks: number;
  /** Blocks open at a time: the median lane's own, one ahead, the others behind. */
  readonly window: number;
  /** The median lane may go on after a hole of so much; further, or back, is a new session. */
  readonly skipTicks: number;
  /** What is begun is handed on after so long without a packet. */
  readonly flushMs: number;
}

export interface RingOptions {
  /** Of a block; 40 ms unless said. Needs the stream's tick rate. */
  readonly blockS?: number;
  /** Instead of blockS. */
  readonly slotsPerBlock?: number;
  /** By default two seconds' worth, or ten where `deepenBytes` allows it, and at least 16. */
  readonly blocks?: number;
  /** Memory that a ring of more than two seconds may use, for packets that nobody can hold back. */
  readonly deepenBytes?: number;
  readonly window?: number;
  /** In place of 10 s. */
  readonly skipTicks?: number;
  readonly flushMs?: number;
}

const BLOCK_S = 0.04;
const ROOM_S = 2;
/** A chain that was held up for so long still loses nothing, where there is memory for it. */
const DEEP_S = 10;
const LEAST_BLOCKS = 16;
const SKIP_S = 10;
const LEAST_FLUSH_MS = 300;
const MOST_BLOCK_BYTES = 2 ** 31;

export function planRing(stream: StreamPlan, options: RingOptions = {}): RingPlan {
  const slotRateHz = stream.tickRateHz && numberOf(stream.tickRateHz) / stream.ticksPerSlot;
  const slotsPerBlock = wholeNumber(
    'receive',
    'packets of a sender in a block',
    options.slotsPerBlock ?? slotsIn(options.blockS ?? BLOCK_S, stream, slotRateHz),
    1,
    2 ** 24,
  );
  const blockS = slotRateHz === undefined ? undefined : slotsPerBlock / slotRateHz;
  const window = wholeNumber('receive', 'window', options.window ?? 3, 3, 64);
  const blocks = wholeNumber(
    'receive',
    'blocks',
    options.blocks ?? blocksFor(blockS, (options.deepenBytes ?? 0) / blockBytesOf({ stream, slotsPerBlock })),
    window + 2,
    2 ** 20,
  );
  const blockTicks = slotsPerBlock * stream.ticksPerSlot;
  const skipTicks = wholeNumber(
    'receive',
    'skipTicks',
    options.skipTicks ??
      Math.max(
        2 * window * blockTicks,
        stream.tickRateHz === undefined ? 0 : Math.round(SKIP_S * numberOf(stream.tickRateHz)),
      ),
    1,
    2 ** 52,
  );
  const flushMs = wholeNumber(
    'receive',
    'flushMs',
    options.flushMs ?? Math.max(LEAST_FLUSH_MS, Math.ceil(2000 * (blockS ?? 0))),
    1,
    3_600_000,
  );
  const plan = { stream, slotsPerBlock, blocks, window, skipTicks, flushMs };
  if (blockBytesOf(plan) > MOST_BLOCK_BYTES) {
    refuse('receive', `a block of ${blockBytesOf(plan)} bytes`, 'ask for shorter blocks');
  }
  return plan;
}

function blocksFor(blockS: number | undefined, mostBlocks: number): number {
  if (blockS === undefined) return LEAST_BLOCKS;
  const [least, deep] = [ROOM_S, DEEP_S].map((seconds) => Math.ceil(seconds / blockS));
  return Math.max(LEAST_BLOCKS, least, Math.min(deep, Math.floor(mostBlocks)));
}

function slotsIn(blockS: number, stream: StreamPlan, slotRateHz: number | undefined): number {
  if (slotRateHz === undefined) {
    refuse(stream.format, 'the packets do not tell their rate', 'give it with source.rate');
  }
  return Math.max(1, Math.round(blockS * slotRateHz));
}

/** Cells of a block : [lane][fragment][slot]. */
export const cellsOf = ({ stream, slotsPerBlock }: Pick<RingPlan, 'stream' | 'slotsPerBlock'>): number =>
  stream.lanes.length * stream.fragments * slotsPerBlock;
export const blockBytesOf = (plan: Pick<RingPlan, 'stream' | 'slotsPerBlock'>): number =>
  cellsOf(plan) * plan.stream.cellBytes;
export const blockTicksOf = ({ stream, slotsPerBlock }: RingPlan): bigint =>
  BigInt(slotsPerBlock) * BigInt(stream.ticksPerSlot);
export const samplesPerBlock = ({ stream, slotsPerBlock }: RingPlan): number =>
  slotsPerBlock * stream.samplesPerSlot;

/** Payload of all senders together; undefined where the rate is not known. */
export const bitsPerSecond = ({
  tickRateHz,
  ticksPerSlot,
  lanes,
  fragments,
  cellBytes,
}: StreamPlan): number | undefined =>
  tickRateHz && (numberOf(tickRateHz) / ticksPerSlot) * lanes.length * fragments * cellBytes * 8;

/**
 * A lane counts for the median if it was heard among so many packets: half a block's worth, and every lane four times
 * at least.
 */
export const hearingSpan = (plan: RingPlan): number =>
  Math.max(4 * plan.stream.lanes.length * plan.stream.fragments, Math.floor(cellsOf(plan) / 2));
