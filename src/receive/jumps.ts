/**
 * Whether a jump of the senders' clocks is followed. A new place is compared with the running stream: its time must not
 * be before it, nor further ahead than the silence before it plus an hour. Few forged or damaged packets can thus not
 * move a run to a time that is not its own. native/jumps.h has the same rules in C++.
 */
import { numberOf } from '../core/clock/rational.js';
import { packetFormatNamed } from '../packets/registry.js';
import type { Moment } from './lane-clocks.js';
import { blockTicksOf, cellsOf, type RingPlan } from './plan.js';

/** Senders whose clocks were corrected go no further. */
const AHEAD_S = 3600;
/** What is not believed must be confirmed for so long, while no sender goes on with the running stream. */
const CONFIRM_NS = 10_000_000_000n;
/** Resynchronisations in a minute. */
const MOST_RESYNCS = 4;
const MINUTE_NS = 60_000_000_000n;
/** A clock that went on meanwhile: buffers and the wall clock's own corrections make no more. */
const RUNS_ON_S = 2;
/** Unix seconds of the years 1 to 9999. */
const FIRST_DATE_S = -62_135_596_800;
const END_DATE_S = 253_402_300_800;

export const isDate = (unixSeconds: number): boolean =>
  unixSeconds >= FIRST_DATE_S && unixSeconds < END_DATE_S;

interface Arrival {
  readonly moment: Moment;
  readonly unixNs: bigint;
}

export class Jumps {
  /** Streams that were not followed. */
  refused = 0;
  private readonly rateHz: number | undefined;
  private readonly blockTicks: bigint;
  private readonly skipTicks: bigint;
  private readonly slackS: number;
  private readonly cells: number;
  private readonly epochOf: ((epoch: bigint) => number) | undefined;
  /** Of the last packet of the running stream. */
  private newestNs = 0n;
  /** Whether a block of the running stream was at least half full: more than a few forged packets. */
  private isTrusted = false;
  /** The last stream of which one was, where the running one is not trusted yet. */
  private trusted: Arrival | undefined;
  /** Since when no sender went on with the running stream while another was claimed. */
  private claimedNs: bigint | undefined;
  private lastRefused: Moment | undefined;
  /** Arrival times of the last resynchronisations. */
  private resyncsNs: bigint[] = [];

  constructor(plan: RingPlan) {
    const { stream } = plan;
    const { epoch } = packetFormatNamed(stream.format);
    this.rateHz = stream.tickRateHz && numberOf(stream.tickRateHz);
    this.blockTicks = blockTicksOf(plan);
    this.skipTicks = BigInt(plan.skipTicks);
    this.slackS = (plan.window * Number(this.blockTicks)) / (this.rateHz ?? 1);
    this.cells = cellsOf(plan);
    if (epoch.told === 'packet') this.epochOf = (session) => epoch.of(session).unixSeconds;
  }

  /** False where the packets tell a time that no calendar has. */
  isDated(moment: Moment): boolean {
    return this.epochOf === undefined || this.rateHz === undefined || isDate(this.timeS(moment));
  }

  /** A packet came for an open block. */
  came(unixNs: bigint): void {
    this.newestNs = unixNs;
    this.claimedNs = undefined;
  }

  /** So many packets are in a block of the running stream. */
  filled(placed: number): void {
    if (2 * placed >= this.cells) this.isTrusted = true;
  }

  /** `isLeft`: no sender goes on with the running stream. */
  areFollowed(to: Moment, head: Moment, unixNs: bigint, isLeft: boolean): boolean {
    if (this.isBelieved(to, head, unixNs, isLeft)) return true;
    this.claimedNs ??= unixNs;
    if (unixNs - this.claimedNs >= CONFIRM_NS) return true;
    const { lastRefused } = this;
    const goesOn =
      lastRefused?.epoch === to.epoch &&
      to.tick >= lastRefused.tick - this.blockTicks &&
      to.tick <= lastRefused.tick + this.skipTicks;
    if (!goesOn) this.refused++;
    this.lastRefused = to;
    return false;
  }

  /** A new stream begins. */
  resynchronised(head: Moment, unixNs: bigint): void {
    if (this.isTrusted) this.trusted = { moment: head, unixNs: this.newestNs };
    this.isTrusted = false;
    this.newestNs = unixNs;
    this.claimedNs = undefined;
    this.lastRefused = undefined;
    this.resyncsNs = [...this.resyncsNs, unixNs].slice(-MOST_RESYNCS);
  }

  private isBelieved(to: Moment, head: Moment, unixNs: bigint, isLeft: boolean): boolean {
    const isLimited = this.resyncsNs.length === MOST_RESYNCS && unixNs - this.resyncsNs[0] < MINUTE_NS;
    const running = this.isTrusted ? { moment: head, unixNs: this.newestNs } : this.trusted;
    if (!running || this.rateHz === undefined) return !isLimited;
    const aheadS = this.timeS(to) - this.timeS(running.moment);
    const silentS = unixNs > running.unixNs ? Number(unixNs - running.unixNs) / 1e9 : 0;
    const isAfter = aheadS >= -this.slackS;
    // Back at the trusted stream: always, whatever was followed in between.
    const goesOn = to.epoch === running.moment.epoch && Math.abs(aheadS - silentS) <= RUNS_ON_S;
    if (!this.isTrusted && isAfter && goesOn) return true;
    if (isLimited) return false;
    if (isAfter && aheadS <= silentS + AHEAD_S) return true;
    // A counter that tells no time may begin anywhere when all senders were restarted.
    return this.epochOf === undefined && isLeft;
  }

  /** Unix seconds where packets tell their epoch, else seconds of the counter. */
  private timeS({ tick, epoch }: Moment): number {
    return (this.epochOf?.(epoch) ?? 0) + Number(tick) / (this.rateHz ?? 1);
  }
}
