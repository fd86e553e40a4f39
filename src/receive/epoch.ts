/**
 * The UTC of a stream epoch's tick 0. It comes from the packets (SNAP2, VDIF, MWA), from the operator, or from the wall
 * clock at the first packet's arrival, rounded to a second. Packet times have priority: a contradicting value is
 * refused. The operator's value is valid while the senders' clocks run on at the rate of the wall clock; after a reset
 * it is unknown until it is given again.
 */
import { refuse } from '../core/errors.js';
import { floorDivide, type Rational } from '../core/clock/rational.js';
import { instantOfTick, secondsOfTicks } from '../core/clock/tick-clock.js';
import { addSeconds, formatInstant, instant, secondsBetween, type Instant } from '../core/instant.js';
import type { PacketFormat } from '../packets/packet-format.js';

export type EpochSetting =
  | { readonly from: 'packet' }
  | {
      readonly from: 'operator';
      readonly at: Instant;
      /** After a clock reset: use the wall clock, or skip the stream epoch until a time is given (default). */
      readonly afterRestart?: 'clock' | 'wait';
    }
  | { readonly from: 'clock' };

export interface KnownEpoch {
  readonly from: EpochSetting['from'];
  readonly at: Instant;
}

/** What is known of a stream epoch at its first block. */
interface EpochStart {
  readonly session: number;
  readonly startTick: bigint;
  /** As in the packets. */
  readonly epoch: bigint;
  readonly arrivedUnixNs: bigint;
  /** Whether it is the run's first stream epoch. */
  readonly isFirst: boolean;
  /** The newest block for which the operator's value was valid. */
  readonly before?: Arrived;
}

/** When a tick arrived. */
export interface Arrived {
  readonly tick: bigint;
  readonly unixNs: bigint;
}

/** Packets arrive soon after their samples. */
const AGREES_S = 1;
/** Tolerance for a clock that ran on: buffers and corrections of the wall clock change a gap by no more. */
const RUNS_ON_S = 2;

export function checkEpoch(format: PacketFormat, setting: EpochSetting): void {
  if (setting.from !== 'packet' || format.epoch.from === 'packet') return;
  refuse(
    format.name,
    `its packets do not carry the time: tick 0 is ${format.epoch.means}`,
    'give it with source.epoch: 2026-06-01T04:00:00Z, or source.epoch: clock for the wall clock rounded to a second',
  );
}

/** Undefined if unknown. */
export function epochOf(
  format: PacketFormat,
  setting: EpochSetting,
  tickRateHz: Rational,
  start: EpochStart,
): KnownEpoch | undefined {
  if (format.epoch.from === 'packet') {
    const at = format.epoch.of(start.epoch);
    if (start.isFirst) refuseOtherTime(format, setting, at, () => byClock(tickRateHz, start).at);
    return { from: 'packet', at };
  }
  if (setting.from === 'packet') return undefined;
  if (setting.from === 'clock') return byClock(tickRateHz, start);
  if (start.isFirst || runsOn(tickRateHz, start)) return { from: 'operator', at: setting.at };
  return setting.afterRestart === 'clock' ? byClock(tickRateHz, start) : undefined;
}

/** Refuses a given time that contradicts the packets. First stream epoch only: reset clocks carry their own time. */
function refuseOtherTime(
  format: PacketFormat,
  setting: EpochSetting,
  own: Instant,
  byWallClock: () => Instant,
): void {
  if (setting.from === 'packet') return;
  const given = setting.from === 'clock' ? byWallClock() : setting.at;
  if (Math.abs(secondsBetween(own, given)) <= AGREES_S) return;
  const [givenText, ownText] = [given, own].map((time) => formatInstant(time, 3));
  refuse(
    'source.epoch',
    `${setting.from === 'clock' ? `clock makes tick 0 ${givenText}` : `is ${givenText}`}, where the ${format.name} packets say that their tick 0 was ${ownText}`,
    'leave it out; where the packets are wrong, set the clocks of their senders',
  );
}

/** A reset counter may have any value. It ran on if it advanced as much as the wall clock did. */
function runsOn(tickRateHz: Rational, { startTick, arrivedUnixNs, before }: EpochStart): boolean {
  if (!before || startTick < before.tick) return false;
  const passedS = Number(arrivedUnixNs - before.unixNs) / 1e9;
  return Math.abs(secondsOfTicks(startTick - before.tick, tickRateHz) - passedS) <= RUNS_ON_S;
}

/** The UTC of tick 0, from a tick of known time; leap seconds between the two are counted. */
export function epochOfTick(time: Instant, tick: bigint, tickRateHz: Rational): Instant {
  // An approximation fixes the leap seconds; the remainder then makes it exact.
  const near = addSeconds(time, -secondsOfTicks(tick, tickRateHz));
  return addSeconds(near, secondsBetween(instantOfTick({ epoch: near, tickRateHz }, tick), time));
}

/** Senders start on whole seconds, and packets arrive soon after their samples. Leap seconds since then are counted. */
function byClock(tickRateHz: Rational, { startTick, arrivedUnixNs }: EpochStart): KnownEpoch {
  const { unixSeconds, fraction } = epochOfTick(instantOfUnixNs(arrivedUnixNs), startTick, tickRateHz);
  return { from: 'clock', at: instant(unixSeconds + Math.round(fraction)) };
}

export function instantOfUnixNs(unixNs: bigint): Instant {
  const seconds = floorDivide(unixNs, 1_000_000_000n);
  return instant(Number(seconds), Number(unixNs - seconds * 1_000_000_000n) / 1e9);
}
