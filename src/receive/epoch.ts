/**
 * When tick 0 of a session was. Packets tell it (SNAP2, VDIF, MWA), or the operator does, or the wall clock at the
 * first packet's arrival, rounded to a second. What the operator said holds for as long as the senders' clocks run on;
 * when they were set anew nobody knows until it is said again.
 */
import { refuse } from '../core/errors.js';
import { floorDivide, type Rational } from '../core/clock/rational.js';
import { instantOfTick, secondsOfTicks } from '../core/clock/tick-clock.js';
import { addSeconds, instant, secondsBetween, type Instant } from '../core/instant.js';
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
export interface SessionStart {
  readonly session: number;
  readonly startTick: bigint;
  /** As packets tell it. */
  readonly epoch: bigint;
  readonly arrivedUnixNs: bigint;
  /** The end of the session before, where there was one. */
  readonly lastTick?: bigint;
}

export function checkEpoch(format: PacketFormat, setting: EpochSetting): void {
  if (setting.told !== 'packet' || format.epoch.told === 'packet') return;
  refuse(
    format.name,
    `its packets do not tell the time: tick 0 is ${format.epoch.means}`,
    'give it with --epoch 2026-06-01T04:00:00Z, or --epoch clock for the wall clock rounded to a second',
  );
}

/** Undefined where nobody knows. */
export function epochOf(
  format: PacketFormat,
  setting: EpochSetting,
  tickRateHz: Rational,
  start: SessionStart,
): KnownEpoch | undefined {
  if (setting.told === 'packet') {
    return format.epoch.told === 'packet' ? { told: 'packet', at: format.epoch.of(start.epoch) } : undefined;
  }
  if (setting.told === 'clock') return byClock(tickRateHz, start);
  const runsOn = start.lastTick === undefined || start.startTick >= start.lastTick;
  if (runsOn) return { told: 'operator', at: setting.at };
  return setting.afterRestart === 'clock' ? byClock(tickRateHz, start) : undefined;
}

/** When tick 0 was, where a tick's time is known; leap seconds between the two are counted. */
export function epochOfTick(time: Instant, tick: bigint, tickRateHz: Rational): Instant {
  // Near enough for the leap seconds, then exact by what is left.
  const near = addSeconds(time, -secondsOfTicks(tick, tickRateHz));
  return addSeconds(near, secondsBetween(instantOfTick({ epoch: near, tickRateHz }, tick), time));
}

/** Senders are started on whole seconds, and packets come soon after their samples. */
function byClock(
  { numerator, denominator }: Rational,
  { startTick, arrivedUnixNs }: SessionStart,
): KnownEpoch {
  const elapsedNs = (startTick * denominator * 1_000_000_000n) / numerator;
  const second = floorDivide(arrivedUnixNs - elapsedNs + 500_000_000n, 1_000_000_000n);
  return { told: 'clock', at: instant(Number(second)) };
}
