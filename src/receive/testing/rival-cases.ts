/** Two senders with one ID: whose clock is followed, and that neither holds the window nor splits it. */
import { cellsBetween, FRAGMENTS, LANES, packetOf, packetsBetween, type Cell } from './array.js';
import type { RingCase } from './try-case.js';

const rival = (cell: Cell): Uint8Array => packetOf({ ...cell, slot: cell.slot - 2000 }, 0xee);
/** Every packet of some boards is followed by one of another sender, 2000 slots behind. */
const alternating = (isDoubled: (lane: number) => boolean): Uint8Array[] =>
  cellsBetween(5008, 5040).flatMap((cell) =>
    isDoubled(cell.lane) ? [packetOf(cell), rival(cell)] : [packetOf(cell)],
  );
/** As sockets deliver them: the two senders alternate by slot, so that two packets in a row are from one sender. */
const inBursts = (first: number, end: number): Uint8Array[] =>
  Array.from({ length: end - first }, (_, n) => first + n).flatMap((slot) => [
    ...packetsBetween(slot, slot + 1),
    ...cellsBetween(slot, slot + 1).map(rival),
  ]);

const wholeBlocks: RingCase['blocks'] = [5000, 5008, 5016, 5024, 5032].map((slot) => [slot, 0, 0, 0]);
/** Packets of a source in 32 slots. */
const ITS = 32 * FRAGMENTS;

export const rivalCases: readonly RingCase[] = [
  {
    name: 'somebody else sends under the names of two boards of four: late, and nothing of theirs is lost',
    steps: [packetsBetween(5000, 5008), alternating((lane) => lane < 2)],
    drainEvery: 64,
    blocks: wholeBlocks,
    outcomes: { late: 2 * ITS },
    lanes: { 0: { late: ITS }, 1: { late: ITS } },
    // The first of them could still be a damaged time.
    rivals: [ITS - 1, ITS - 1, 0, 0],
  },
  {
    name: 'somebody else sends under the names of all boards: those that came first are followed',
    steps: [packetsBetween(5000, 5008), alternating(() => true)],
    drainEvery: 64,
    blocks: wholeBlocks,
    outcomes: { late: LANES * ITS },
    rivals: new Array<number>(LANES).fill(ITS - 1),
  },
  {
    name: 'their packets come in bursts: there and back once, and then the first are followed',
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
    outcomes: { late: 3 + 31 * LANES * FRAGMENTS, early: 5 },
    resyncs: 2,
  },
];
