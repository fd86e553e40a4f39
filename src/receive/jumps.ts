/**
 * Whether a jump of the senders' clocks is followed. The new time is compared with the running stream: it must not be
 * earlier, nor further ahead than the gap before it plus an hour. A few forged or damaged packets therefore cannot move
 * a run to a wrong time. native/jumps.h has the same rules in C++.
 */
import { numberOf } from '../core/clock/rational.js';
import { packetFormatNamed } from '../packets/registry.js';
import type { Moment } from './sender-clocks.js';
import { blockTicksOf, cellsOf, type RingPlan } from './plan.js';

/** Limit for senders whose clocks were corrected. */
const AHEAD_S = 3600;
/** A rejected jump must be confirmed for this long, while no sender continues the running stream. */
const CONFIRM_NS = 10_000_000_000n;
/** Resynchronisations per minute. */
const MOST_RESYNCS = 4;
const MINUTE_NS = 60_000_000_000n;
/** Tolerance for a clock that ran on: buffers and corrections of the wall clock cause no larger difference. */
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
  /** Jumps that were not followed. */
  refused = 0;
  private readonly rateHz: number | undefined;
  private readonly blockTicks: bigint;
  private readonly skipTicks: bigint;
  private readonly slackS: number;
  private readonly cells: number;
  private readonly epochOf: ((epoch: bigint) => number) | undefined;
  /** Arrival of the last packet of the running stream. */
  private newestNs = 0n;
  /** Whether a block of the running stream was at least half full: more than a few forged packets. */
  private isTrusted = false;
  /** The last trusted stream, while the running one is not trusted yet. */
  private trusted: Arrival | undefined;
  /** Since when no sender continued the running stream while another one was claimed. */
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
    if (epoch.from === 'packet') this.epochOf = (session) => epoch.of(session).unixSeconds;
  }

  /** False if the packet's time is outside the calendar. */
  isDated(moment: Moment): boolean {
    return this.epochOf === undefined || this.rateHz === undefined || isDate(this.timeS(moment));
  }

  /** A packet arrived for an open block. */
  came(unixNs: bigint): void {
    this.newestNs = unixNs;
    this.claimedNs = undefined;
  }

  /** A block of the running stream holds this many packets. */
  filled(placed: number): void {
    if (2 * placed >= this.cells) this.isTrusted = true;
  }

  /** `isLeft`: no sender continues the running stream. */
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
    // A return to the trusted stream is always followed, whatever was followed in between.
    const goesOn = to.epoch === running.moment.epoch && Math.abs(aheadS - silentS) <= RUNS_ON_S;
    if (!this.isTrusted && isAfter && goesOn) return true;
    if (isLimited) return false;
    if (isAfter && aheadS <= silentS + AHEAD_S) return true;
    // A counter without a time may start anywhere when all senders were restarted.
    return this.epochOf === undefined && isLeft;
  }

  /** Unix seconds where packets carry their epoch, otherwise seconds of the counter. */
  private timeS({ tick, epoch }: Moment): number {
    return (this.epochOf?.(epoch) ?? 0) + Number(tick) / (this.rateHz ?? 1);
  }
}
