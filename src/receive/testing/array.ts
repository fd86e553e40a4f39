/** A small array of four F-engines whose packets and payloads can be worked out by hand. */
import type { RingPlan } from '../plan.js';
import { planRing } from '../plan.js';
import { rational } from '../../core/clock/rational.js';
import { speadFeng } from '../../packets/spead/feng.js';
import { randomStream } from '../../core/random.js';

export const SENDERS = 4;
export const SLOTS = 8;
export const FRAGMENTS = 2;
export const CELL_BYTES = 64;
export const TICKS = 1024;
/** Packet slots of a block; of one source. */
export const CELLS = SENDERS * FRAGMENTS * SLOTS;
export const SENDER_CELLS = FRAGMENTS * SLOTS;
/** Slots per cycle of the 48-bit clock. */
export const TURN_SLOTS = 2 ** 48 / TICKS;

const options = {
  antennas: [0, 1, 2, 3],
  firstChannel: 0,
  channelsPerHeap: FRAGMENTS,
  spectraPerHeap: 16,
  ticksPerSpectrum: TICKS / 16,
  packetBytes: CELL_BYTES,
};
const ringOptions = { slotsPerBlock: SLOTS, blocks: 6, window: 3, skipTicks: 20 * SLOTS * TICKS };

/** Six blocks of eight slots, three open; gaps of 20 blocks are skipped. */
export const smallPlan: RingPlan = planRing(speadFeng.plan(options), ringOptions);

/** The same with a clock of one slot per second, so that jumps are compared with the running stream. */
export const timedPlan: RingPlan = planRing(
  speadFeng.plan({ ...options, clockRateHz: rational(BigInt(TICKS)) }),
  ringOptions,
);

export interface Cell {
  readonly sender: number;
  /** On the sender's clock, including whole cycles. */
  readonly slot: number;
  readonly fragment: number;
}

/** Never zero, so that it cannot be mistaken for a gap. */
export const payloadByte = ({ sender, slot, fragment }: Cell): number =>
  (((slot % TURN_SLOTS) * 31 + sender * 7 + fragment * 3) % 255) + 1;

export const packetOf = (cell: Cell, byte = payloadByte(cell)): Uint8Array =>
  speadFeng.encode(
    {
      tick: BigInt.asUintN(48, BigInt(cell.slot) * BigInt(TICKS)),
      sender: cell.sender,
      fragment: cell.fragment,
    },
    new Uint8Array(CELL_BYTES).fill(byte),
    smallPlan.stream,
  );

/** Every packet of the slots from `first` up to, not including, `end`, in time order. */
export function cellsBetween(first: number, end: number): Cell[] {
  const cells: Cell[] = [];
  for (let slot = first; slot < end; slot++) {
    for (let sender = 0; sender < SENDERS; sender++) {
      for (let fragment = 0; fragment < FRAGMENTS; fragment++) cells.push({ sender, slot, fragment });
    }
  }
  return cells;
}

export const packetsBetween = (first: number, end: number): Uint8Array[] =>
  cellsBetween(first, end).map((cell) => packetOf(cell));

/** No item moves further than `distance` places. */
export function shuffled<Item>(items: readonly Item[], distance: number, seed: number): Item[] {
  const random = randomStream(seed, 'shuffle');
  return items
    .map((item, n) => ({ item, key: n + random.uniform() * distance }))
    .sort((x, y) => x.key - y.key)
    .map(({ item }) => item);
}
