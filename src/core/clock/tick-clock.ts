/**
 * Ticks of a sampling clock to UTC and back, without intermediate rounding: seconds = epoch + tick / rate in whole
 * numbers. A double cannot hold absolute ticks: 196 MHz since 1970 exceeds 2⁵³. Sampling clocks never pause, so leap
 * seconds after the epoch are counted.
 */
import { instant, secondsBetween, type Instant } from '../instant.js';
import { afterElapsedSeconds } from './epochs.js';
import { floorDivide, properFraction, rationalOf, type Rational } from './rational.js';

export interface TickClock {
  /** Time of tick 0. */
  readonly epoch: Instant;
  /** Ticks per second. */
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

/** The tick nearest to a moment; the later one if two are equally near. */
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

/** Duration of this many ticks. */
export const secondsOfTicks = (ticks: bigint, { numerator, denominator }: Rational): number => {
  const whole = floorDivide(ticks * denominator, numerator);
  return Number(whole) + properFraction(ticks * denominator - whole * numerator, numerator);
};

/**
 * A clock of `wrapBits` bits wraps to 0 when it is full: the result is the tick within half a period of `near`. The
 * packet does not show how many whole periods came before.
 */
export function unwrapTick(sent: bigint, near: bigint, wrapBits: number): bigint {
  const turn = 1n << BigInt(wrapBits);
  const ahead = BigInt.asUintN(wrapBits, sent - near);
  return near + (ahead >= turn / 2n ? ahead - turn : ahead);
}
