/**
 * Received and lost packets of a stream, in order of arrival: in bounded memory, for any length. A sender's clock is
 * accepted once a second packet agrees with it, so that a damaged time is a stray and no loss.
 */
import { unwrapTick } from '../core/clock/tick-clock.js';
import type { PacketFacts, StreamPlan } from '../packets/packet-format.js';

/** Slots before a sender's newest for which duplicates are recognised. */
const WINDOW = 1024;
/** A larger step ahead is a new stream epoch: real losses in a row are smaller. */
const MOST_SKIPPED = 2 ** 20;

export interface SenderTally {
  /** The source number in its packets. */
  readonly source: number;
  readonly packets: number;
  /** Between its first packet and its last. */
  readonly lost: number;
  readonly duplicates: number;
  /** Arrived after a later one of the same sender and channels. */
  readonly reordered: number;
  /** Times with which no other packet agrees. */
  readonly strays: number;
  /** How often its clock was reset. */
  readonly restarts: number;
  /** As sent; the last may be after a wrap. */
  readonly firstTick: bigint;
  readonly lastTick: bigint;
}

/** Packets of one sender and fragment: the newest slot, and which of the slots before it arrived. */
interface Row {
  newest: number | undefined;
  readonly seen: Uint8Array;
}

/** One sender; slots count from the last reset of its clock. */
class SenderCounts {
  private readonly rows: Row[];
  private base: bigint;
  private session: bigint | undefined;
  private firstTick: bigint;
  private first = 0;
  private last = 0;
  /** Since the clock was reset. */
  private here = 0;
  private candidate: PacketFacts | undefined;
  /** Packet slots between the first and the last, before the clock was reset. */
  private expected = 0;
  private distinct = 0;
  private duplicates = 0;
  private reordered = 0;
  private strays = 0;
  private restarts = 0;

  constructor(
    private readonly plan: StreamPlan,
    private readonly source: number,
    begin: PacketFacts,
  ) {
    this.rows = Array.from({ length: plan.fragments }, () => ({
      newest: undefined,
      seen: new Uint8Array(WINDOW),
    }));
    this.base = begin.tick;
    this.firstTick = begin.tick;
    this.session = begin.session;
  }

  add(facts: PacketFacts): void {
    const slot = this.slotOf(facts);
    if (facts.session === this.session && Math.abs(slot - this.last) < WINDOW) {
      this.count(facts.fragment, slot);
      return;
    }
    const before = this.candidate;
    this.candidate = facts;
    this.strays++;
    if (!before || before.session !== facts.session || !agree(this.plan, before, facts)) return;
    // Two agree: their clock is accepted.
    this.candidate = undefined;
    this.strays -= 2;
    if (facts.session !== this.session || slot < this.last || slot - this.last > MOST_SKIPPED) {
      this.restart(before);
    }
    for (const one of [before, facts]) this.count(one.fragment, this.slotOf(one));
  }

  tally(): SenderTally {
    const { source, distinct, duplicates, reordered, strays, restarts, firstTick } = this;
    return {
      source,
      packets: distinct + duplicates + strays,
      lost: this.expected + this.span() - distinct,
      duplicates,
      reordered,
      strays,
      restarts,
      firstTick,
      lastTick: this.tickOf(this.last),
    };
  }

  private tickOf(slot: number): bigint {
    return this.base + BigInt(slot) * BigInt(this.plan.ticksPerSlot);
  }

  /** A number too large to be exact is far away in any case. */
  private slotOf({ tick }: PacketFacts): number {
    const { wrapBits, ticksPerSlot } = this.plan;
    const meant = wrapBits === 64 ? tick : unwrapTick(tick, this.tickOf(this.last), wrapBits);
    return Number((meant - this.base) / BigInt(ticksPerSlot));
  }

  private span(): number {
    return (this.last - this.first + 1) * this.plan.fragments;
  }

  private restart(begin: PacketFacts): void {
    if (this.here === 1) {
      // The very first packet was wrong.
      this.distinct--;
      this.strays++;
      if (this.restarts === 0) this.firstTick = begin.tick;
    } else {
      this.restarts++;
      this.expected += this.span();
    }
    this.base = begin.tick;
    this.session = begin.session;
    this.first = 0;
    this.last = 0;
    this.here = 0;
    for (const row of this.rows) row.newest = undefined;
  }

  private count(fragment: number, slot: number): void {
    const row = this.rows[fragment];
    this.here++;
    this.first = Math.min(this.first, slot);
    this.last = Math.max(this.last, slot);
    if (row.newest === undefined || slot - row.newest >= WINDOW) {
      row.seen.fill(0);
      row.newest = slot;
    } else if (slot > row.newest) {
      for (let skipped = row.newest + 1; skipped < slot; skipped++) row.seen[placeOf(skipped)] = 0;
      row.newest = slot;
    } else if (row.seen[placeOf(slot)] === 1) {
      this.duplicates++;
      return;
    } else {
      this.reordered++;
    }
    row.seen[placeOf(slot)] = 1;
    this.distinct++;
  }
}

const placeOf = (slot: number): number => ((slot % WINDOW) + WINDOW) % WINDOW;

const agree = (plan: StreamPlan, x: PacketFacts, y: PacketFacts): boolean => {
  const apart = plan.wrapBits === 64 ? y.tick - x.tick : unwrapTick(y.tick, x.tick, plan.wrapBits) - x.tick;
  return (apart < 0n ? -apart : apart) <= BigInt(WINDOW) * BigInt(plan.ticksPerSlot);
};

export class StreamAccount {
  private readonly senders = new Map<number, SenderCounts>();
  private readonly sessions = new Set<bigint>();

  constructor(private readonly plan: StreamPlan) {}

  add(facts: PacketFacts): void {
    if (facts.session !== undefined) this.sessions.add(facts.session);
    let sender = this.senders.get(facts.sender);
    if (!sender) {
      sender = new SenderCounts(this.plan, this.plan.sources[facts.sender], facts);
      this.senders.set(facts.sender, sender);
    }
    sender.add(facts);
  }

  /** In the order of the plan; senders without packets are left out. */
  tallies(): SenderTally[] {
    return [...this.senders].sort(([x], [y]) => x - y).map(([, sender]) => sender.tally());
  }

  /** The times of tick 0 given by the packets, in order of arrival. */
  get sessionNumbers(): readonly bigint[] {
    return [...this.sessions];
  }
}
