/** Feeds a case to a ring and compares blocks, packet slots, bits and counters with the expected ones. */
import assert from 'node:assert/strict';
import { isPresent } from '../../core/presence/presence.js';
import { packetFormatNamed } from '../../packets/registry.js';
import { cellsOf, type RingPlan } from '../plan.js';
import {
  senderOutcomes,
  outcomes,
  type ArrivedBlock,
  type FedRing,
  type SenderOutcome,
  type Outcome,
  type RingAccount,
} from '../ring.js';
import { smallPlan } from './array.js';

/**
 * `silence`: a long pause. `drain`: the consumer takes and releases the ready blocks. `atS`: arrival time of what
 * follows.
 */
export type Step = readonly Uint8Array[] | 'silence' | 'drain' | { readonly atS: number };

export interface RingCase {
  readonly name: string;
  readonly plan?: RingPlan;
  readonly steps: readonly Step[];
  /** The consumer runs after every so many packets; by default only at a 'drain' step and at the end. */
  readonly drainEvery?: number;
  /** [first slot, missing packet slots, skipped blocks before it, session] */
  readonly blocks: readonly (readonly [number, number, number, number])[];
  /** Others are 0; the remaining packets are placed. */
  readonly outcomes?: Partial<Record<Outcome, number>>;
  readonly senders?: Readonly<Record<number, Partial<Record<SenderOutcome, number>>>>;
  readonly resyncs?: number;
  readonly refusedResyncs?: number;
  /** Of every source. */
  readonly duplicateIdPackets?: readonly number[];
}

export type OpenRing = (plan: RingPlan, garbage: number) => FedRing;

const GARBAGE = 0xaa;

/** Payloads by the packet slot they were sent for, in the order of sending. */
class Sent {
  private readonly payloads = new Map<string, Uint8Array[]>();

  constructor(private readonly plan: RingPlan) {}

  add(datagram: Uint8Array): void {
    const facts = packetFormatNamed(this.plan.stream.format).decode(datagram, this.plan.stream);
    if (facts === 'control' || 'refused' in facts) return;
    const key = this.key(facts.tick, facts.sender, facts.fragment);
    this.payloads.set(key, [...(this.payloads.get(key) ?? []), facts.payload]);
  }

  all(tick: bigint, sender: number, fragment: number): readonly Uint8Array[] {
    return this.payloads.get(this.key(tick, sender, fragment)) ?? [];
  }

  private key(tick: bigint, sender: number, fragment: number): string {
    return `${BigInt.asUintN(this.plan.stream.wrapBits, tick)} ${sender} ${fragment}`;
  }
}

export class Bench {
  readonly seen: (readonly [number, number, number, number])[] = [];
  readonly fed: Outcome[] = [];
  /** Arrival of the next packet; each is this much later. */
  arrivalNs = 0n;
  private readonly sent: Sent;

  constructor(
    readonly ring: FedRing,
    /** The expected content of a packet slot: the first packet sent for it, or any of them if damage made several. */
    private readonly checked: 'first sent' | 'any sent' = 'first sent',
    private readonly everyNs = 1n,
  ) {
    this.sent = new Sent(ring.plan);
  }

  feed(datagram: Uint8Array): Outcome {
    this.sent.add(datagram);
    this.arrivalNs += this.everyNs;
    const outcome = this.ring.feed(datagram, this.arrivalNs);
    this.fed.push(outcome);
    return outcome;
  }

  drain(): void {
    for (let block = this.ring.take(); block; block = this.ring.take()) {
      const { ticksPerSlot } = this.ring.plan.stream;
      const firstSlot = Number(block.startTick / BigInt(ticksPerSlot));
      this.seen.push([firstSlot, block.missingCells, block.skippedBlocks, block.session]);
      this.check(block);
      block.cells.fill(GARBAGE); // garbage for the next packets
      block.release();
      block.release(); // a second release does nothing
    }
  }

  private check(block: ArrivedBlock): void {
    const { stream, slotsPerBlock } = this.ring.plan;
    let missing = 0;
    for (let sender = 0; sender < stream.senders.length; sender++) {
      for (let fragment = 0; fragment < stream.fragments; fragment++) {
        const row = sender * stream.fragments + fragment;
        for (let slot = 0; slot < slotsPerBlock; slot++) {
          const at = (row * slotsPerBlock + slot) * stream.cellBytes;
          const cell = block.cells.subarray(at, at + stream.cellBytes);
          const tick = block.startTick + BigInt(slot * stream.ticksPerSlot);
          const there = isPresent(block.presence, row, slot);
          if (!there) missing++;
          const sent = there
            ? this.sent.all(tick, sender, fragment).slice(0, this.checked === 'first sent' ? 1 : undefined)
            : [new Uint8Array(stream.cellBytes)];
          assert.ok(
            sent.some((payload) => Buffer.compare(cell, payload) === 0),
            `sender ${sender}, tick ${tick}, fragment ${fragment}`,
          );
        }
      }
    }
    assert.equal(missing, block.missingCells);
  }
}

/** Every packet is counted once, every packet slot once. */
export function checkAccount(account: RingAccount, plan: RingPlan, fed: readonly Outcome[]): void {
  assert.equal(account.packets, fed.length);
  for (const outcome of outcomes) {
    assert.equal(account.outcomes[outcome], fed.filter((one) => one === outcome).length, outcome);
  }
  assert.equal(
    outcomes.reduce((sum, outcome) => sum + account.outcomes[outcome], 0),
    account.packets,
    'every packet has one outcome',
  );
  for (const outcome of senderOutcomes) {
    assert.equal(
      account.senders.reduce((sum, sender) => sum + sender.outcomes[outcome], 0),
      account.outcomes[outcome],
      `${outcome} by sender`,
    );
  }
  assert.equal(
    account.outcomes.placed + account.missingCells,
    (account.blocks + account.skippedBlocks) * cellsOf(plan),
    'placed and missing are all cells',
  );
  assert.equal(
    account.senders.reduce((sum, sender) => sum + sender.missingCells, 0),
    account.missingCells,
    'missing by sender',
  );
}

export async function tryRingCase(one: RingCase, open: OpenRing): Promise<void> {
  const plan = one.plan ?? smallPlan;
  const ring = open(plan, GARBAGE);
  try {
    const bench = new Bench(ring);
    for (const step of one.steps) {
      if (step === 'silence') ring.flush();
      else if (step === 'drain') bench.drain();
      else if ('atS' in step) bench.arrivalNs = BigInt(step.atS) * 1_000_000_000n;
      else {
        for (const datagram of step) {
          bench.feed(datagram);
          if (one.drainEvery !== undefined && bench.fed.length % one.drainEvery === 0) bench.drain();
        }
      }
    }
    ring.flush();
    bench.drain();
    const account = ring.account();
    assert.deepEqual(bench.seen, one.blocks);
    const expected: Record<string, number> = Object.fromEntries(outcomes.map((name) => [name, 0]));
    Object.assign(expected, one.outcomes);
    expected.placed =
      bench.fed.length - Object.values(one.outcomes ?? {}).reduce((sum, count) => sum + count, 0);
    assert.deepEqual({ ...account.outcomes }, expected);
    assert.equal(account.resyncs, one.resyncs ?? 0);
    assert.equal(account.refusedResyncs, one.refusedResyncs ?? 0);
    if (one.duplicateIdPackets)
      assert.deepEqual(
        account.senders.map(({ duplicateIdPackets }) => duplicateIdPackets),
        one.duplicateIdPackets,
      );
    for (const [sender, counts] of Object.entries(one.senders ?? {})) {
      for (const outcome of senderOutcomes) {
        const count = counts[outcome];
        if (count !== undefined) assert.equal(account.senders[Number(sender)].outcomes[outcome], count);
      }
    }
    checkAccount(account, plan, bench.fed);
    assert.equal(ring.freeBlocks(), plan.blocks, 'every block came back');
  } finally {
    await ring.close();
  }
}
