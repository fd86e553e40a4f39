/** Time scales of the Earth's rotation and the planets, from UTC. */
import { SECONDS_PER_DAY } from '../../core/units.js';
import type { Instant } from '../../core/instant.js';
import { taiMinusUtcS } from '../../core/leap-seconds.js';

export interface EarthClock {
  /** Terrestrial time from J2000.0, in Julian centuries and in days. */
  readonly centuries: number;
  readonly ttDays: number;
  /** UT1 from 2000-01-01T12:00:00 UT1: whole days and the fraction; together they resolve a nanosecond. */
  readonly ut1Days: number;
  readonly ut1Fraction: number;
}

/** Unix time of 2000-01-01T12:00:00 UTC. */
const NOON_2000 = 946_728_000;
const TT_MINUS_TAI_S = 32.184;

export function earthClock({ unixSeconds, fraction }: Instant, ut1MinusUtcS: number): EarthClock {
  const ut1Days = Math.floor((unixSeconds - NOON_2000) / SECONDS_PER_DAY);
  const seconds = unixSeconds - NOON_2000 - ut1Days * SECONDS_PER_DAY;
  const ttDays =
    ut1Days + (seconds + fraction + taiMinusUtcS(unixSeconds) + TT_MINUS_TAI_S) / SECONDS_PER_DAY;
  return {
    centuries: ttDays / 36_525,
    ttDays,
    ut1Days,
    ut1Fraction: (seconds + fraction + ut1MinusUtcS) / SECONDS_PER_DAY,
  };
}
