/** How a stream's packets are grouped into blocks: the block length, their number, and the limits for clocks. Pure. */
import { refuse, wholeNumber } from '../core/errors.js';
import { numberOf } from '../core/clock/rational.js';
import type { StreamPlan } from '../packets/packet-format.js';

export interface RingPlan {
  readonly stream: StreamPlan;
  /** Block n starts at tick n · slotsPerBlock · ticksPerSlot of the senders' clock, on every machine. */
  readonly slotsPerBlock: number;
  /** Blocks in memory: open, waiting and held by the consumer. */
  readonly blocks: number;
  /** Blocks open at a time: that of the median source, one ahead, the others behind. */
  readonly window: number;
  /** The median source may continue after a gap of this length; a longer one, or a step back, is a new stream epoch. */
  readonly skipTicks: number;
  /** Open blocks are delivered after this long without a packet. */
  readonly flushMs: number;
}

export interface RingOptions {
  /** Block length; by default 40 ms. Needs the stream's tick rate. */
  readonly blockS?: number;
  /** Instead of blockS. */
  readonly slotsPerBlock?: number;
  /** By default two seconds, or ten where `deepenBytes` allows it, and at least 16 blocks. */
  readonly blocks?: number;
  /** Memory for a ring of more than two seconds, for packets that cannot be held back. */
  readonly deepenBytes?: number;
  readonly window?: number;
  /** By default 10 s. */
  readonly skipTicks?: number;
  readonly flushMs?: number;
}

const BLOCK_S = 0.04;
const ROOM_S = 2;
/** The pipeline can stall for this long without loss, if there is memory for it. */
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
    refuse(stream.format, 'the packets do not carry their rate', 'give it with source.rate');
  }
  return Math.max(1, Math.round(blockS * slotRateHz));
}

/** Packet slots of a block : [sender][fragment][slot]. */
export const cellsOf = ({ stream, slotsPerBlock }: Pick<RingPlan, 'stream' | 'slotsPerBlock'>): number =>
  stream.senders.length * stream.fragments * slotsPerBlock;
export const blockBytesOf = (plan: Pick<RingPlan, 'stream' | 'slotsPerBlock'>): number =>
  cellsOf(plan) * plan.stream.cellBytes;
export const blockTicksOf = ({ stream, slotsPerBlock }: RingPlan): bigint =>
  BigInt(slotsPerBlock) * BigInt(stream.ticksPerSlot);
export const samplesPerBlock = ({ stream, slotsPerBlock }: RingPlan): number =>
  slotsPerBlock * stream.samplesPerSlot;

/** Payload of all senders together; undefined if the rate is unknown. */
export const bitsPerSecond = ({
  tickRateHz,
  ticksPerSlot,
  senders,
  fragments,
  cellBytes,
}: StreamPlan): number | undefined =>
  tickRateHz && (numberOf(tickRateHz) / ticksPerSlot) * senders.length * fragments * cellBytes * 8;

/**
 * A source counts for the median if one of the last packets is its own: half a block of packets, and at least four of
 * every source.
 */
export const activePackets = (plan: RingPlan): number =>
  Math.max(4 * plan.stream.senders.length * plan.stream.fragments, Math.floor(cellsOf(plan) / 2));
