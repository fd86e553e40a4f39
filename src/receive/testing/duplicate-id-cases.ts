/** Two senders with one ID: whose clock is followed, and that neither holds the window nor splits it. */
import { cellsBetween, FRAGMENTS, SENDERS, packetOf, packetsBetween, type Cell } from './array.js';
import type { RingCase } from './try-case.js';

const other = (cell: Cell): Uint8Array => packetOf({ ...cell, slot: cell.slot - 2000 }, 0xee);
/** Every packet of some boards is followed by one of another sender, 2000 slots behind. */
const alternating = (isDoubled: (sender: number) => boolean): Uint8Array[] =>
  cellsBetween(5008, 5040).flatMap((cell) =>
    isDoubled(cell.sender) ? [packetOf(cell), other(cell)] : [packetOf(cell)],
  );
/** As sockets deliver them: the two senders alternate by slot, so that two packets in a row are from one sender. */
const inBursts = (first: number, end: number): Uint8Array[] =>
  Array.from({ length: end - first }, (_, n) => first + n).flatMap((slot) => [
    ...packetsBetween(slot, slot + 1),
    ...cellsBetween(slot, slot + 1).map(other),
  ]);

const wholeBlocks: RingCase['blocks'] = [5000, 5008, 5016, 5024, 5032].map((slot) => [slot, 0, 0, 0]);
/** Packets of a source in 32 slots. */
const ITS = 32 * FRAGMENTS;

export const duplicateIdCases: readonly RingCase[] = [
  {
    name: 'another sender uses the IDs of two boards of four: its packets are late, theirs are all placed',
    steps: [packetsBetween(5000, 5008), alternating((sender) => sender < 2)],
    drainEvery: 64,
    blocks: wholeBlocks,
    outcomes: { late: 2 * ITS },
    senders: { 0: { late: ITS }, 1: { late: ITS } },
    // The first of them could still be a damaged time.
    duplicateIdPackets: [ITS - 1, ITS - 1, 0, 0],
  },
  {
    name: 'another sender uses the IDs of all boards: those that came first are followed',
    steps: [packetsBetween(5000, 5008), alternating(() => true)],
    drainEvery: 64,
    blocks: wholeBlocks,
    outcomes: { late: SENDERS * ITS },
    duplicateIdPackets: new Array<number>(SENDERS).fill(ITS - 1),
  },
  {
    name: 'duplicate IDs in bursts: the clock moves there and back once, then stays with the first',
    steps: [packetsBetween(5000, 5008), inBursts(5008, 5040)],
    drainEvery: 64,
    // Back at the fourth packet (two boards of four), forward again at the sixth (three of them).
    blocks: [
      [5000, 0, 0, 0],
      [5008, 56, 0, 0],
      [3008, 59, 0, 1],
      [5008, 13, 0, 2],
      [5016, 0, 0, 2],
      [5024, 0, 0, 2],
      [5032, 0, 0, 2],
    ],
    outcomes: { late: 3 + 31 * SENDERS * FRAGMENTS, early: 5 },
    resyncs: 2,
  },
];
