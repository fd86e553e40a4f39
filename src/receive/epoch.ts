/**
 * When tick 0 of a session was. Packets tell it (SNAP2, VDIF, MWA), or the operator does, or the wall clock at the
 * first packet's arrival, rounded to a second. Packets that tell it are believed: what is said against them is refused.
 * What the operator said holds for as long as the senders' clocks run on, as fast as the wall clock; when they were set
 * anew nobody knows until it is said again.
 */
import { refuse } from '../core/errors.js';
import { floorDivide, type Rational } from '../core/clock/rational.js';
import { instantOfTick, secondsOfTicks } from '../core/clock/tick-clock.js';
import { addSeconds, formatInstant, instant, secondsBetween, type Instant } from '../core/instant.js';
import type { PacketFormat } from '../packets/packet-format.js';

export type EpochSetting =
  | { readonly told: 'packet' }
  | {
      readonly told: 'operator';
      readonly at: Instant;
      /** When senders' clocks were set anew: take the wall clock, or leave the session out until told (the default). */
      readonly afterRestart?: 'clock' | 'wait';
    }
  | { readonly told: 'clock' };

export interface KnownEpoch {
  readonly told: EpochSetting['told'];
  readonly at: Instant;
}

/** What is known of a session when its first block comes. */
interface SessionStart {
  readonly session: number;
  readonly startTick: bigint;
  /** As packets tell it. */
  readonly epoch: bigint;
  readonly arrivedUnixNs: bigint;
  /** Whether it is the night's first. */
  readonly isFirst: boolean;
  /** The newest block to which the operator's word was applied. */
  readonly before?: Arrived;
}

/** When a tick came. */
export interface Arrived {
  readonly tick: bigint;
  readonly unixNs: bigint;
}

/** Packets come soon after their samples. */
const AGREES_S = 1;
/** Clocks that run on: blocks, buffers and the wall clock's own corrections make no more of a silence. */
const RUNS_ON_S = 2;

export function checkEpoch(format: PacketFormat, setting: EpochSetting): void {
  if (setting.told !== 'packet' || format.epoch.told === 'packet') return;
  refuse(
    format.name,
    `its packets do not tell the time: tick 0 is ${format.epoch.means}`,
    'give it with source.epoch: 2026-06-01T04:00:00Z, or source.epoch: clock for the wall clock rounded to a second',
  );
}

/** Undefined where nobody knows. */
export function epochOf(
  format: PacketFormat,
  setting: EpochSetting,
  tickRateHz: Rational,
  start: SessionStart,
): KnownEpoch | undefined {
  if (format.epoch.told === 'packet') {
    const at = format.epoch.of(start.epoch);
    if (start.isFirst) refuseOtherTime(format, setting, at, () => byClock(tickRateHz, start).at);
    return { told: 'packet', at };
  }
  if (setting.told === 'packet') return undefined;
  if (setting.told === 'clock') return byClock(tickRateHz, start);
  if (start.isFirst || runsOn(tickRateHz, start)) return { told: 'operator', at: setting.at };
  return setting.afterRestart === 'clock' ? byClock(tickRateHz, start) : undefined;
}

/** As of a band: packets know better. Of the first session, since clocks that are set anew say so themselves. */
function refuseOtherTime(
  format: PacketFormat,
  setting: EpochSetting,
  own: Instant,
  byWallClock: () => Instant,
): void {
  if (setting.told === 'packet') return;
  const said = setting.told === 'clock' ? byWallClock() : setting.at;
  if (Math.abs(secondsBetween(own, said)) <= AGREES_S) return;
  const [saidText, ownText] = [said, own].map((time) => formatInstant(time, 3));
  refuse(
    'source.epoch',
    `${setting.told === 'clock' ? `clock makes tick 0 ${saidText}` : `is ${saidText}`}, where the ${format.name} packets say that their tick 0 was ${ownText}`,
    'leave it out; where the packets are wrong, set the clocks of their senders',
  );
}

/** A counter that was set anew may stand anywhere: it runs on where it went as far as the wall clock meanwhile. */
function runsOn(tickRateHz: Rational, { startTick, arrivedUnixNs, before }: SessionStart): boolean {
  if (!before || startTick < before.tick) return false;
  const passedS = Number(arrivedUnixNs - before.unixNs) / 1e9;
  return Math.abs(secondsOfTicks(startTick - before.tick, tickRateHz) - passedS) <= RUNS_ON_S;
}

/** When tick 0 was, where a tick's time is known; leap seconds between the two are counted. */
export function epochOfTick(time: Instant, tick: bigint, tickRateHz: Rational): Instant {
  // Near enough for the leap seconds, then exact by what is left.
  const near = addSeconds(time, -secondsOfTicks(tick, tickRateHz));
  return addSeconds(near, secondsBetween(instantOfTick({ epoch: near, tickRateHz }, tick), time));
}

/** Senders are started on whole seconds, and packets come soon after their samples. Leap seconds since are counted. */
function byClock(tickRateHz: Rational, { startTick, arrivedUnixNs }: SessionStart): KnownEpoch {
  const { unixSeconds, fraction } = epochOfTick(instantOfUnixNs(arrivedUnixNs), startTick, tickRateHz);
  return { told: 'clock', at: instant(unixSeconds + Math.round(fraction)) };
}

export function instantOfUnixNs(unixNs: bigint): Instant {
  const seconds = floorDivide(unixNs, 1_000_000_000n);
  return instant(Number(seconds), Number(unixNs - seconds * 1_000_000_000n) / 1e9);
}
