/**
 * Ticks of a sampling clock to UTC and back, without rounding on the way: seconds = epoch + tick / rate in whole
 * numbers. A double of absolute ticks would not do: 196 MHz since 1970 passes 2⁵³. Sampling clocks never pause, so
 * leap seconds after the epoch are counted.
 */
import { instant, secondsBetween, type Instant } from '../instant.js';
import { afterElapsedSeconds } from './epochs.js';
import { floorDivide, properFraction, rationalOf, type Rational } from './rational.js';

export interface TickClock {
  /** When tick 0 was. */
  readonly epoch: Instant;
  /** Ticks a second. */
  readonly tickRateHz: Rational;
}

export function instantOfTick({ epoch, tickRateHz }: TickClock, tick: bigint): Instant {
  const start = rationalOf(epoch.fraction);
  const unit = start.denominator * tickRateHz.numerator;
  const total = start.numerator * tickRateHz.numerator + tick * tickRateHz.denominator * start.denominator;
  const whole = floorDivide(total, unit);
  const fraction = properFraction(total - whole * unit, unit);
  // Within a leap second the fraction is above 1.
  const second = afterElapsedSeconds(epoch.unixSeconds, Number(whole));
  return { ...second, fraction: second.fraction + fraction };
}

/** The tick nearest to a moment, the later of two. */
export function tickOfInstant({ epoch, tickRateHz }: TickClock, moment: Instant): bigint {
  const [from, to] = [rationalOf(epoch.fraction), rationalOf(moment.fraction)];
  const seconds = BigInt(secondsBetween(instant(epoch.unixSeconds), instant(moment.unixSeconds)));
  // (seconds + to − from) · rate, over one denominator.
  const unit = from.denominator * to.denominator * tickRateHz.denominator;
  const total =
    (seconds * from.denominator * to.denominator +
      to.numerator * from.denominator -
      from.numerator * to.denominator) *
    tickRateHz.numerator;
  return floorDivide(2n * total + unit, 2n * unit);
}

/** How long so many ticks last. */
export const secondsOfTicks = (ticks: bigint, { numerator, denominator }: Rational): number => {
  const whole = floorDivide(ticks * denominator, numerator);
  return Number(whole) + properFraction(ticks * denominator - whole * numerator, numerator);
};

/**
 * A clock of `wrapBits` bits begins again at 0 when it is full: the tick meant is the one within half a turn of a
 * tick nearby. Whole turns before that nobody can tell from the packet.
 */
export function unwrapTick(sent: bigint, near: bigint, wrapBits: number): bigint {
  const turn = 1n << BigInt(wrapBits);
  const ahead = BigInt.asUintN(wrapBits, sent - near);
  return near + (ahead >= turn / 2n ? ahead - turn : ahead);
}
