/** Packets that carry their epoch: boards that disagree, boards that are reset. Also a valid stream of every format. */
import { planRing } from '../plan.js';
import { snap2 } from '../../packets/snap2.js';
import { allStreams, placesOf, soundPacket } from '../../packets/testing/streams.js';
import type { RingCase } from './try-case.js';

/** Three boards of one fragment, four slots per block. */
const plan = planRing(
  snap2.plan({
    signals: 12,
    signalsPerPacket: 4,
    channels: 3,
    channelsPerPacket: 3,
    firstChannel: 1000,
  }),
  { slotsPerBlock: 4, blocks: 8, window: 3, skipTicks: 80 },
);
const SYNC = 1_700_000_000;
const packet = (sender: number, slot: number, sync = SYNC): Uint8Array =>
  snap2.encode(
    { tick: BigInt(slot), sender, fragment: 0, session: BigInt(sync) },
    new Uint8Array(plan.stream.cellBytes).fill(1 + ((slot * 7 + sender) % 250)),
    plan.stream,
  );
const packets = (first: number, end: number, syncOf: (sender: number) => number = () => SYNC): Uint8Array[] =>
  Array.from({ length: end - first }, (_, k) => first + k).flatMap((slot) =>
    [0, 1, 2].map((sender) => packet(sender, slot, syncOf(sender))),
  );

const byEpoch: readonly RingCase[] = [
  {
    name: 'a board that counts from another second is left out of the median',
    plan,
    steps: [packets(100, 108, (sender) => (sender === 1 ? SYNC + 1 : SYNC))],
    blocks: [
      [100, 4, 0, 0],
      [104, 4, 0, 0],
    ],
    outcomes: { other_epoch: 8 },
    senders: { 1: { other_epoch: 8 } },
  },
  {
    name: 'all boards are reset at the same numbers: a new session once most of them agree',
    plan,
    // At slot 108 all three are unknown; at 109 board 0 confirms, then board 1: two of three.
    steps: [packets(100, 108), packets(108, 116, () => SYNC + 60)],
    blocks: [
      [100, 0, 0, 0],
      [104, 0, 0, 0],
      [108, 4, 0, 1],
      [112, 0, 0, 1],
    ],
    outcomes: { other_epoch: 4 },
    resyncs: 1,
  },
  {
    name: 'one damaged sync time changes nothing',
    plan,
    steps: [packets(100, 104), [packet(0, 104, 12)], packets(104, 108)],
    blocks: [
      [100, 0, 0, 0],
      [104, 0, 0, 0],
    ],
    outcomes: { other_epoch: 1 },
    senders: { 0: { other_epoch: 1 } },
  },
];

/** Twelve slots of every format in blocks of four; the first tick may or may not be at a block boundary. */
const soundStreams: readonly RingCase[] = allStreams.map((stream): RingCase => {
  const ringPlan = planRing(stream.plan, { slotsPerBlock: 4, blocks: 8, window: 3, skipTicks: 2 ** 40 });
  const blockTicks = 4 * stream.plan.ticksPerSlot;
  const cells = stream.plan.senders.length * stream.plan.fragments;
  const first = Number(stream.firstTick / BigInt(stream.plan.ticksPerSlot));
  const lead = Number(stream.firstTick % BigInt(blockTicks)) / stream.plan.ticksPerSlot;
  const starts: number[] = [];
  for (let slot = first - lead; slot < first + 12; slot += 4) starts.push(slot);
  return {
    name: `a sound stream of ${stream.plan.format}`,
    plan: ringPlan,
    steps: [placesOf(stream, 12).map((place) => soundPacket(stream, place))],
    blocks: starts.map((slot) => [
      slot,
      (Math.max(0, first - slot) + Math.max(0, slot + 4 - (first + 12))) * cells,
      0,
      0,
    ]),
  };
});

export const epochCases: readonly RingCase[] = [...byEpoch, ...soundStreams];
