/**
 * Leap seconds of UTC. Atomic clocks count every second; a UTC day that ends with a leap second has one more, 23:59:60,
 * which Unix time does not count.
 */
import { SECONDS_PER_DAY } from './units.js';

const utc = (year: number, month: number): number => Date.UTC(year, month - 1, 1) / 1000;

/**
 * Unix time of the first second after each leap second (IERS Bulletin C; number 72, of July 2026, has none before the
 * end of June 2027). Add one line for a new leap second.
 */
const AFTER_LEAP = [
  utc(1972, 7),
  utc(1973, 1),
  utc(1974, 1),
  utc(1975, 1),
  utc(1976, 1),
  utc(1977, 1),
  utc(1978, 1),
  utc(1979, 1),
  utc(1980, 1),
  utc(1981, 7),
  utc(1982, 7),
  utc(1983, 7),
  utc(1985, 7),
  utc(1988, 1),
  utc(1990, 1),
  utc(1991, 1),
  utc(1992, 7),
  utc(1993, 7),
  utc(1994, 7),
  utc(1996, 1),
  utc(1997, 7),
  utc(1999, 1),
  utc(2006, 1),
  utc(2009, 1),
  utc(2012, 7),
  utc(2015, 7),
  utc(2017, 1),
];

/** Number of leap seconds before a Unix second. */
export function leapSecondsBefore(unixSeconds: number): number {
  // Most times are later than the last one.
  let count = AFTER_LEAP.length;
  while (count > 0 && unixSeconds < AFTER_LEAP[count - 1]) count--;
  return count;
}

/** The first second after each leap second that is later than a Unix second. */
export const leapSecondsAfter = (unixSeconds: number): readonly number[] =>
  AFTER_LEAP.filter((after) => after > unixSeconds);

/** Whether a leap second follows this Unix second. */
export const leapSecondFollows = (unixSeconds: number): boolean =>
  (unixSeconds + 1) % SECONDS_PER_DAY === 0 && AFTER_LEAP.includes(unixSeconds + 1);

/** TAI − UTC in 1972, when leap seconds began; used for earlier times too. */
export const FIRST_TAI_MINUS_UTC_S = 10;

export const taiMinusUtcS = (unixSeconds: number): number =>
  FIRST_TAI_MINUS_UTC_S + leapSecondsBefore(unixSeconds);

/**
 * The Unix second reached by a count of all seconds since 1970, leap seconds included; within a leap second, the one
 * before it.
 */
export function unixFromElapsed(elapsedSeconds: number): { unixSeconds: number; leap: 0 | 1 } {
  let count = AFTER_LEAP.length;
  while (count > 0 && elapsedSeconds < AFTER_LEAP[count - 1] + count - 1) count--;
  const leap = count > 0 && elapsedSeconds < AFTER_LEAP[count - 1] + count ? 1 : 0;
  return { unixSeconds: elapsedSeconds - count, leap };
}
