/** Clock jumps: forged and damaged times, boards that are reset, and how often a run follows them. */
import assert from 'node:assert/strict';
import { rational } from '../../core/clock/rational.js';
import { chips } from '../../packets/chips.js';
import { snap2 } from '../../packets/snap2.js';
import { planRing } from '../plan.js';
import { Bench, checkAccount, type OpenRing, type RingCase } from './try-case.js';

const SENDERS = [0, 1, 2, 3];
const SPECTRA_A_SECOND = 100;
const ring = { slotsPerBlock: 4, blocks: 8, window: 3, skipTicks: 80 };

/** Four boards, a hundred packets per second each, four per block; gaps of 0.8 s are skipped. */
const plan = planRing(
  snap2.plan({
    signals: 16,
    signalsPerPacket: 4,
    channels: 3,
    channelsPerPacket: 3,
    firstChannel: 1000,
    spectrumRateHz: rational(BigInt(SPECTRA_A_SECOND)),
  }),
  ring,
);
const SYNC = 1_700_000_000;
const byte = (sender: number, slot: number): number => 1 + ((slot * 7 + sender) % 250);
const packet = (sender: number, slot: number, sync = SYNC): Uint8Array =>
  snap2.encode(
    { tick: BigInt(slot), sender, fragment: 0, session: BigInt(sync) },
    new Uint8Array(plan.stream.cellBytes).fill(byte(sender, slot)),
    plan.stream,
  );
const packets = (first: number, end: number, sync = SYNC, senders = SENDERS): Uint8Array[] =>
  Array.from({ length: end - first }, (_, k) => first + k).flatMap((slot) =>
    senders.map((sender) => packet(sender, slot, sync)),
  );
/** Two packets from each of three boards. */
const six = (slot: number, sync = SYNC): Uint8Array[] => packets(slot, slot + 2, sync, [0, 1, 2]);

/** The same with packets that do not carry an epoch. */
const countedPlan = planRing(chips.plan({ boards: [1, 2, 3, 4], channels: 3, firstChannel: 1000 }), ring);
const counted = (first: number, end: number, senders = SENDERS): Uint8Array[] =>
  Array.from({ length: end - first }, (_, k) => first + k).flatMap((slot) =>
    senders.map((sender) =>
      chips.encode(
        { tick: BigInt(slot), sender, fragment: 0 },
        new Uint8Array(countedPlan.stream.cellBytes).fill(byte(sender, slot)),
        countedPlan.stream,
      ),
    ),
  );

const whole = (slots: readonly number[], session = 0): RingCase['blocks'] =>
  slots.map((slot) => [slot, 0, 0, session]);
const BEFORE = packets(100, 108);
const AFTER = packets(108, 116);
const UNDISTURBED = whole([100, 104, 108, 112]);
const DAY = 86_400;

export const jumpCases: readonly RingCase[] = [
  {
    name: 'six forged packets of a time that no calendar has: invalid',
    plan,
    steps: [BEFORE, six(2 ** 53 - 4), AFTER],
    blocks: UNDISTURBED,
    outcomes: { invalid: 6 },
  },
  {
    name: 'a time that no calendar has is invalid in the first packet too',
    plan,
    steps: [six(2 ** 53 - 4), BEFORE],
    blocks: whole([100, 104]),
    outcomes: { invalid: 6 },
  },
  {
    name: 'six forged packets a day ahead: refused, and nothing else happens',
    plan,
    steps: [BEFORE, six(DAY * SPECTRA_A_SECOND), AFTER],
    blocks: UNDISTURBED,
    outcomes: { early: 6 },
    refusedResyncs: 1,
  },
  {
    name: 'six forged packets that count from a day before: refused, and nothing else happens',
    plan,
    steps: [BEFORE, six(108, SYNC - DAY), AFTER],
    blocks: UNDISTURBED,
    outcomes: { other_epoch: 6 },
    refusedResyncs: 1,
  },
  {
    name: 'after a silence of a day the senders may be a day ahead',
    plan,
    steps: [BEFORE, { atS: DAY }, packets(0, 8, SYNC + DAY)],
    // Two boards of four are a tie: three must agree.
    blocks: [...whole([100, 104]), [0, 6, 0, 1], [4, 0, 0, 1]],
    outcomes: { other_epoch: 6 },
    resyncs: 1,
  },
  {
    name: 'all boards go back: followed when they have confirmed it for ten seconds',
    plan,
    // The second packet of board 1 is the first one refused, at 1 s. At 12 s the next block decides.
    steps: [BEFORE, { atS: 1 }, packets(40, 44), { atS: 12 }, packets(44, 52)],
    blocks: [...whole([100, 104]), ...whole([44, 48], 1)],
    outcomes: { late: 16 },
    resyncs: 1,
    refusedResyncs: 1,
  },
  {
    name: 'three boards go back and one does not: its data go on',
    plan,
    steps: [
      BEFORE,
      { atS: 1 },
      [40, 41, 42, 43].flatMap((slot) => [...packets(slot, slot + 1, SYNC, [0, 1, 2]), packet(3, slot + 68)]),
      { atS: 12 },
      [44, 45, 46, 47].flatMap((slot) => [...packets(slot, slot + 1, SYNC, [0, 1, 2]), packet(3, slot + 68)]),
    ],
    blocks: [...whole([100, 104]), [108, 12, 0, 0], [112, 12, 0, 0]],
    outcomes: { late: 24 },
    senders: { 3: { late: 0, placed: 16 } },
    refusedResyncs: 1,
  },
  {
    name: 'six forged packets of another counter: refused, and nothing else happens',
    plan: countedPlan,
    steps: [counted(100, 108), counted(2 ** 53 - 4, 2 ** 53 - 2, [0, 1, 2]), counted(108, 116)],
    blocks: UNDISTURBED,
    outcomes: { early: 6 },
    refusedResyncs: 1,
  },
  {
    name: 'all boards come up with a random counter: followed when each has sent two packets',
    plan: countedPlan,
    steps: [counted(100, 108), counted(2 ** 52, 2 ** 52 + 8)],
    // Most agree at the second packet of board 2. Board 3 could still continue, but its first packet is elsewhere.
    blocks: [...whole([100, 104]), [2 ** 52, 6, 0, 1], [2 ** 52 + 4, 0, 0, 1]],
    outcomes: { early: 6 },
    resyncs: 1,
  },
];

/** Forged packets between the real ones, each at a different, plausible time within the hour. */
async function limitsResyncs(open: OpenRing): Promise<void> {
  const opened = open(plan, 0xaa);
  const bench = new Bench(opened, 'any sent', 2_500_000n); // a hundred packets per second from four boards
  let forged = 0;
  for (let slot = 100; slot < 1100; slot += 4) {
    for (const one of packets(slot, slot + 4)) bench.feed(one);
    // Two places at a time: a clock that moved there and back once would not move again.
    const elsewhere = slot + 1000 + 100 * (slot % 97);
    for (const one of slot % 8 === 0 ? [...six(elsewhere), ...six(elsewhere + 500)] : []) {
      forged++;
      bench.feed(one);
    }
    bench.drain();
  }
  opened.flush();
  bench.drain();
  const account = opened.account();
  checkAccount(account, plan, bench.fed);
  await opened.close();
  // To the first two places and back, to the third and back: a return is always followed.
  assert.equal(account.resyncs, 5);
  assert.ok(account.refusedResyncs > 50, String(account.refusedResyncs));
  const lost = bench.fed.length - forged - account.outcomes.placed;
  assert.ok(lost < 40, `${lost} real packets were lost`);
}

export const jumpTrials: readonly (readonly [string, (open: OpenRing) => Promise<void>])[] = [
  ['1500 forged packets of as many times as may be true: few new streams in a minute', limitsResyncs],
];
