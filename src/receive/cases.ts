/**
 * The ring under network faults. Packets are fed by hand; every packet slot of every block and every counter is worked
 * out by hand. Both rings must pass every case, with memory full of garbage beforehand.
 */
import { epochCases } from './testing/epoch-cases.js';
import { jumpCases } from './testing/jump-cases.js';
import { duplicateIdCases } from './testing/duplicate-id-cases.js';
import {
  CELL_BYTES,
  cellsBetween,
  FRAGMENTS,
  SENDERS,
  packetOf,
  packetsBetween,
  shuffled,
  SLOTS,
  smallPlan,
  TICKS,
  TURN_SLOTS,
  type Cell,
} from './testing/array.js';
import type { RingCase } from './testing/try-case.js';

const moved = (first: number, end: number, move: (cell: Cell) => Cell): Uint8Array[] =>
  cellsBetween(first, end).map((cell) => packetOf(move(cell)));
const some = (first: number, end: number, keep: (cell: Cell, n: number) => boolean): Uint8Array[] =>
  cellsBetween(first, end)
    .filter(keep)
    .map((cell) => packetOf(cell));
/** A packet of source 0, slot 3, with some words of its SPEAD header changed (counted from 0). */
function altered(changes: Readonly<Record<number, bigint>>): Uint8Array {
  const packet = packetOf({ sender: 0, slot: 3, fragment: 0 });
  const view = new DataView(packet.buffer);
  for (const [word, value] of Object.entries(changes)) {
    view.setBigUint64(8 * Number(word), value);
  }
  return packet;
}

/** Blocks are [first slot, missing packet slots, skipped blocks before it, stream epoch]. */
const arrayCases: readonly RingCase[] = [
  {
    name: 'all in order: whole blocks, nothing missing',
    steps: [packetsBetween(0, 32)],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [16, 0, 0, 0],
      [24, 0, 0, 0],
    ],
  },
  {
    name: 'reordered within the window: nothing missing',
    steps: [shuffled(packetsBetween(0, 32), 7 * SENDERS * FRAGMENTS, 7)],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [16, 0, 0, 0],
      [24, 0, 0, 0],
    ],
  },
  {
    name: 'lost packets: zeros, and missing exactly there',
    // Seven of the first 64 packet slots, one of the second 64.
    steps: [some(0, 16, (_, n) => ![3, 17, 18, 60, 61, 62, 63, 100].includes(n))],
    blocks: [
      [0, 7, 0, 0],
      [8, 1, 0, 0],
    ],
  },
  {
    name: 'duplicates: counted, the first one stays',
    // Every fifth of 128 packets is repeated with another payload: 26.
    steps: [
      cellsBetween(0, 16).flatMap((cell, n) =>
        n % 5 === 0 ? [packetOf(cell), packetOf(cell, 0xee)] : [packetOf(cell)],
      ),
    ],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
    ],
    outcomes: { duplicate: 26 },
  },
  {
    name: 'late: never placed in a block that was handed on',
    steps: [
      [
        ...some(0, 24, (_, n) => n !== 1 * SENDERS * FRAGMENTS + 2 * FRAGMENTS),
        packetOf({ sender: 2, slot: 1, fragment: 0 }),
      ],
    ],
    blocks: [
      [0, 1, 0, 0],
      [8, 0, 0, 0],
      [16, 0, 0, 0],
    ],
    outcomes: { late: 1 },
    senders: { 2: { late: 1 } },
  },
  {
    name: 'one damaged clock: early, and the window stays',
    steps: [
      packetsBetween(0, 2),
      [packetOf({ sender: 1, slot: 1e6, fragment: 0 }), packetOf({ sender: 3, slot: 9e6, fragment: 1 })],
      packetsBetween(2, 16),
    ],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
    ],
    outcomes: { early: 2 },
  },
  {
    name: 'one board three blocks ahead for good: its packets are early, the others lose nothing',
    steps: [
      moved(0, 48, (cell) =>
        cell.sender === 2 && cell.slot >= 8 ? { ...cell, slot: cell.slot + 24 } : cell,
      ),
    ],
    drainEvery: 64,
    // The board's slots 8… arrive as 32…, so it falls behind its own gap of three blocks. When the others are at slot
    // s, the window reaches to the end of the block after s; the board's s + 24 is two blocks beyond that.
    blocks: [
      [0, 0, 0, 0],
      [8, 16, 0, 0],
      [16, 16, 0, 0],
      [24, 16, 0, 0],
      [32, 16, 0, 0],
      [40, 16, 0, 0],
    ],
    outcomes: { early: 80 },
    senders: { 0: { late: 0, early: 0 }, 2: { early: 80 } },
  },
  {
    name: 'one board nearly a block ahead, another a block behind: every packet has its place',
    steps: [moved(16, 64, (cell) => ({ ...cell, slot: cell.slot + [0, SLOTS - 1, 0, -SLOTS][cell.sender] }))],
    drainEvery: 16,
    // Source 3 fills 8…55, sources 0 and 2 fill 16…63, source 1 fills 23…70: seven of its slots at the start, one at
    // the end.
    blocks: [
      [8, 3 * 16, 0, 0],
      [16, 7 * 2, 0, 0],
      [24, 0, 0, 0],
      [32, 0, 0, 0],
      [40, 0, 0, 0],
      [48, 0, 0, 0],
      [56, 16, 0, 0],
      [64, 64 - 7 * 2, 0, 0],
    ],
  },
  {
    name: 'the first packet comes from a board whose clock is wrong: the majority is followed',
    steps: [moved(0, 40, (cell) => (cell.sender === 0 ? { ...cell, slot: cell.slot + 4000 } : cell))],
    drainEvery: 16,
    // Two packets of board 0 make a block of stream epoch 0. The first packet of board 1 is late; its second confirms
    // the jump. From slot 1 on, board 0 is early: 39 slots of two packets.
    blocks: [
      [4000, 62, 0, 0],
      [0, 17, 0, 1],
      [8, 16, 0, 1],
      [16, 16, 0, 1],
      [24, 16, 0, 1],
      [32, 16, 0, 1],
    ],
    outcomes: { late: 1, early: 78 },
    resyncs: 1,
  },
  {
    name: 'the network was away for ten blocks: skipped, and no stream epoch is lost',
    steps: [packetsBetween(0, 16), packetsBetween(96, 112)],
    // More than half of the sources must repeat it: five packets, which are lost.
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [96, 5, 10, 0],
      [104, 0, 0, 0],
    ],
    outcomes: { early: 5 },
  },
  {
    name: 'away for longer than may be skipped: a new stream epoch',
    steps: [packetsBetween(0, 16), packetsBetween(960, 976)],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [960, 5, 0, 1],
      [968, 0, 0, 1],
    ],
    outcomes: { early: 5 },
    resyncs: 1,
  },
  {
    name: 'the senders restart at zero: a new stream epoch, what was open is handed on',
    steps: [packetsBetween(5000, 5012), packetsBetween(0, 16)],
    // The lower of the two middle clocks decides, so two boards of four are enough to go back: three packets.
    blocks: [
      [5000, 0, 0, 0],
      [5008, 32, 0, 0],
      [0, 3, 0, 1],
      [8, 0, 0, 1],
    ],
    outcomes: { late: 3 },
    resyncs: 1,
  },
  {
    name: 'one board of four restarts: its packets are late, the others go on',
    steps: [
      moved(5000, 5032, (cell) =>
        cell.sender === 2 && cell.slot >= 5008 ? { ...cell, slot: cell.slot - 5008 } : cell,
      ),
    ],
    blocks: [
      [5000, 0, 0, 0],
      [5008, 16, 0, 0],
      [5016, 16, 0, 0],
      [5024, 16, 0, 0],
    ],
    outcomes: { late: 48 },
    senders: { 2: { late: 48 } },
  },
  {
    name: 'two boards of four fall silent: the others lose nothing',
    steps: [some(0, 80, ({ slot, sender }) => slot < 20 || sender > 1)],
    drainEvery: 16,
    // From slot 20 on, two sources with two packets per slot are missing.
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [16, 4 * 4, 0, 0],
      ...[24, 32, 40, 48, 56, 64, 72].map((slot) => [slot, 32, 0, 0] as const),
    ],
  },
  {
    name: 'the 48-bit clock wraps in the middle: no gap, ticks go on rising',
    steps: [packetsBetween(TURN_SLOTS - 16, TURN_SLOTS + 16)],
    blocks: [-16, -8, 0, 8].map((slot) => [TURN_SLOTS + slot, 0, 0, 0] as const),
  },
  {
    name: 'a packet from before the wrap is late in a stream epoch that began after it',
    steps: [
      packetsBetween(0, 2),
      [packetOf({ sender: 1, slot: TURN_SLOTS - 1, fragment: 0 })],
      packetsBetween(2, 8),
    ],
    blocks: [[0, 0, 0, 0]],
    outcomes: { late: 1 },
  },
  {
    name: 'the first packet is ahead of the wrap that the others have not reached',
    // Slot 0 arrives first, from board 0, and is accepted. Eight slots back is within one block of it, so board 0's
    // next packets change nothing. The second packet of board 1 does: the lower of two clocks decides.
    steps: [
      [packetOf({ sender: 0, slot: 0, fragment: 0 })],
      packetsBetween(TURN_SLOTS - 8, TURN_SLOTS),
      some(TURN_SLOTS, TURN_SLOTS + 8, (_, n) => n !== 0),
      packetsBetween(TURN_SLOTS + 8, TURN_SLOTS + 16),
    ],
    blocks: [
      [0, 63, 0, 0],
      [TURN_SLOTS - 8, 3, 0, 1],
      [TURN_SLOTS, 1, 0, 1],
      [TURN_SLOTS + 8, 0, 0, 1],
    ],
    outcomes: { late: 3 },
    resyncs: 1,
  },
  {
    name: 'a new stream epoch after a wrap takes ticks as they are sent',
    steps: [packetsBetween(TURN_SLOTS - 8, TURN_SLOTS + 8), packetsBetween(5000, 5016)],
    blocks: [
      [TURN_SLOTS - 8, 0, 0, 0],
      [TURN_SLOTS, 0, 0, 0],
      [5000, 5, 0, 1],
      [5008, 0, 0, 1],
    ],
    outcomes: { early: 5 },
    resyncs: 1,
  },
  {
    name: 'a consumer that holds every block: counted as ring full, and reception goes on when one is released',
    // Ten blocks into a ring of six: the memory is full at slot 48, and 32 slots of 8 packets find no free block.
    steps: [packetsBetween(0, 80), 'drain', packetsBetween(80, 112)],
    blocks: [
      ...[0, 8, 16, 24, 32, 40].map((slot) => [slot, 0, 0, 0] as const),
      [80, 0, 4, 0],
      ...[88, 96, 104].map((slot) => [slot, 0, 0, 0] as const),
    ],
    outcomes: { ring_full: 256 },
  },
  {
    name: 'a block for which there was no room takes what comes once there is',
    // Slots 48…75 find no free block; at slot 76 the ready blocks are released.
    steps: [packetsBetween(0, 76), 'drain', packetsBetween(76, 96)],
    blocks: [
      ...[0, 8, 16, 24, 32, 40].map((slot) => [slot, 0, 0, 0] as const),
      [72, 32, 3, 0],
      [80, 0, 0, 0],
      [88, 0, 0, 0],
    ],
    outcomes: { ring_full: 224 },
  },
  {
    name: 'a clock that changes with every packet moves nothing',
    steps: [
      packetsBetween(5000, 5008),
      Array.from({ length: 40 }, (_, n) => packetOf({ sender: 1, slot: 100_000 * (n + 1), fragment: 0 })),
    ],
    blocks: [[5000, 0, 0, 0]],
    outcomes: { early: 40 },
  },
  {
    name: 'the only board that is left restarts: followed from its second packet',
    steps: [some(5000, 5008, ({ sender }) => sender === 1), some(0, 16, ({ sender }) => sender === 1)],
    blocks: [
      [5000, 48, 0, 0],
      [0, 49, 0, 1],
      [8, 48, 0, 1],
    ],
    outcomes: { late: 1 },
    resyncs: 1,
  },
  {
    name: 'the senders pause, and go on: nothing is missing that was not missed',
    steps: [
      packetsBetween(0, 16),
      'silence',
      packetsBetween(16, 20),
      'silence',
      packetsBetween(40, 48),
      'silence',
      'drain',
      // Senders resume inside a block that the timeout closed: packets are late, and no new stream epoch begins.
      packetsBetween(48, 52),
      'silence',
      packetsBetween(52, 72),
    ],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [16, 32, 0, 0],
      [40, 0, 2, 0],
      [48, 32, 0, 0],
      [56, 0, 0, 0],
      [64, 0, 0, 0],
    ],
    outcomes: { late: 32 },
  },
  {
    name: 'after a silence the first board that sends twice is followed',
    steps: [packetsBetween(0, 16), 'silence', packetsBetween(96, 112)],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
      [96, 1, 10, 0],
      [104, 0, 0, 0],
    ],
    outcomes: { early: 1 },
  },
  {
    name: 'damaged, foreign and misaligned packets: counted, and nothing else happens',
    steps: [
      packetsBetween(0, 4),
      [
        new TextEncoder().encode('hello'),
        new Uint8Array(136),
        packetOf({ sender: 0, slot: 3, fragment: 0 }).slice(0, 100),
        altered({ 6: 0xc101_0000_0000_0009n }), // feng_id 9
        altered({ 5: 0x9600_0000_0000_0000n + BigInt(3 * TICKS + 1) }),
        // A heap of another length without time or sender: descriptors.
        altered({ 2: 0x8002_0000_0000_0000n + 999n, 5: 0n, 6: 0n }),
      ],
      packetsBetween(4, 16),
    ],
    blocks: [
      [0, 0, 0, 0],
      [8, 0, 0, 0],
    ],
    outcomes: { invalid: 3, unknown_source: 1, misaligned: 1, control: 1 },
  },
];

export const ringCases: readonly RingCase[] = [
  ...arrayCases.map((one) => ({ ...one, plan: smallPlan, cellBytes: CELL_BYTES })),
  ...epochCases,
  ...duplicateIdCases,
  ...jumpCases,
];
