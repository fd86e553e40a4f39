/**
 * A moment in UTC, exact enough for any sample clock: whole Unix seconds and a fraction, since one double of Unix time
 * resolves only 0.2 µs. Unix time has no leap seconds: 23:59:60.25 is stored as 23:59:59 and a fraction of 1.25. Adding
 * and subtracting count every elapsed second, leap seconds included.
 */
import { refuse } from './errors.js';
import { leapSecondFollows, leapSecondsBefore, unixFromElapsed } from './leap-seconds.js';
import { SECONDS_PER_DAY } from './units.js';

export interface Instant {
  readonly unixSeconds: number;
  /** In [0, 1); in [1, 2) within a leap second, with the second before it. */
  readonly fraction: number;
}

/** Julian Date of 1970-01-01T00:00:00 UTC. */
const UNIX_EPOCH_JD = 2_440_587.5;
const UNIX_EPOCH_MJD = 40_587;

/** A moment from whole Unix seconds and a fraction of one. */
export function instant(unixSeconds: number, fraction = 0): Instant {
  const whole = Math.floor(unixSeconds);
  const rest = unixSeconds - whole + fraction;
  const carry = Math.floor(rest);
  const left = rest - carry;
  // A fraction of −1e-20 leaves 1 − 1e-20, which rounds to a whole second.
  return left >= 1
    ? { unixSeconds: whole + carry + 1, fraction: 0 }
    : { unixSeconds: whole + carry, fraction: left };
}

/** The moment whole seconds and a fraction after a start. */
function later(start: Instant, seconds: number, fraction: number): Instant {
  const plain = instant(start.unixSeconds + seconds, start.fraction + fraction);
  const before = leapSecondsBefore(start.unixSeconds);
  if (start.fraction < 1 && leapSecondsBefore(plain.unixSeconds) === before) return plain;
  const elapsed = instant(start.unixSeconds + before + seconds, start.fraction + fraction);
  const { unixSeconds, leap } = unixFromElapsed(elapsed.unixSeconds);
  return { unixSeconds, fraction: elapsed.fraction + leap };
}

/** A moment this many seconds later, or earlier if negative, to far below a nanosecond. */
export const addSeconds = (start: Instant, seconds: number): Instant => {
  const whole = Math.floor(seconds);
  return later(start, whole, seconds - whole);
};

/** The moment this many samples after a start, without losing the fraction to a large product. */
export function addSamples(start: Instant, samples: number, sampleRateHz: number): Instant {
  const wholeSeconds = Math.floor(samples / sampleRateHz);
  return later(start, wholeSeconds, (samples - wholeSeconds * sampleRateHz) / sampleRateHz);
}

/** Seconds from the first moment to the second. */
export const secondsBetween = (start: Instant, end: Instant): number =>
  end.unixSeconds -
  start.unixSeconds +
  (leapSecondsBefore(end.unixSeconds) - leapSecondsBefore(start.unixSeconds)) +
  (end.fraction - start.fraction);

/**
 * Accepts 2026-06-21T04:00:00, with or without Z and a fraction of any length; always UTC. 23:59:60 is valid on days
 * that end with a leap second.
 */
export function parseInstant(text: string, where = 'time'): Instant {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?)?Z?$/.exec(text.trim());
  if (match?.at(2) === '23:59:60') {
    const before = parseInstant(`${match[1]}T23:59:59${match.at(3) ?? ''}`, where);
    if (leapSecondFollows(before.unixSeconds)) return { ...before, fraction: before.fraction + 1 };
    refuse(where, `'${text}': ${match[1]} did not end with a leap second`, 'correct its seconds');
  }
  const time = match?.at(2) ?? '00:00:00';
  const milliseconds = match ? Date.parse(`${match[1]}T${time.length === 5 ? `${time}:00` : time}Z`) : NaN;
  // Date.parse reads 31 April as 1 May and 24:00 as the next day.
  if (!match || Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(match[1])) {
    refuse(where, `'${text}' is not a UTC time`, 'write it like 2026-06-21T04:00:00Z');
  }
  return instant(milliseconds / 1000, Number(`0${match.at(3) ?? ''}`));
}

/** ISO 8601 with the given number of decimals; rounds to the nearest, carrying into the second. */
export function formatInstant(moment: Instant, decimals = 3): string {
  const scale = 10 ** decimals;
  const ticks = Math.round(moment.fraction * scale);
  const carried = Math.floor(ticks / scale);
  // The second after 23:59:59 is 23:59:60 if there is a leap second.
  const leap = carried > 0 && leapSecondFollows(moment.unixSeconds) ? 1 : 0;
  const date = new Date((moment.unixSeconds + carried - leap) * 1000);
  if (Number.isNaN(date.getTime())) {
    refuse('time', `no calendar reaches ${moment.unixSeconds} s from 1970`, 'check what wrote it');
  }
  const whole = date.toISOString().slice(0, -'.000Z'.length);
  const seconds = leap === carried && leap > 0 ? whole.replace(/59$/, '60') : whole;
  if (decimals === 0) return `${seconds}Z`;
  return `${seconds}.${String(ticks - carried * scale).padStart(decimals, '0')}Z`;
}

export const isInLeapSecond = ({ fraction }: Instant): boolean => fraction >= 1;

/**
 * Dates of files (Julian, or calendars of other programs) have days of 86 400 s: a moment within a leap second would
 * be read a second later.
 */
export function refuseLeapSecond(where: string, ...moments: readonly Instant[]): void {
  const inside = moments.find(isInLeapSecond);
  if (!inside) return;
  const second = (unixSeconds: number, fraction: number): string =>
    formatInstant({ unixSeconds, fraction }, 0);
  const leap = second(inside.unixSeconds, 1);
  refuse(
    where,
    `has data within the leap second ${leap}, which dates of such files cannot hold: their days have 86,400 s`,
    `use source.from and source.to to choose data from ${second(inside.unixSeconds + 1, 0)} on, or data to ${leap}`,
  );
}

/**
 * Julian Date as a midnight (….5) and the fraction of the day since then: two doubles resolve every nanosecond. Days
 * have 86 400 seconds: a leap second extends past the day's end and overlaps the dates of the second after it.
 */
export function julianDate(moment: Instant): { readonly midnightJd: number; readonly dayFraction: number } {
  const days = Math.floor(moment.unixSeconds / SECONDS_PER_DAY);
  const seconds = moment.unixSeconds - days * SECONDS_PER_DAY + moment.fraction;
  return { midnightJd: UNIX_EPOCH_JD + days, dayFraction: seconds / SECONDS_PER_DAY };
}

export function fromJulianDate(midnightJd: number, dayFraction: number): Instant {
  const days = Math.floor(midnightJd - UNIX_EPOCH_JD);
  return instant(days * SECONDS_PER_DAY, (midnightJd - UNIX_EPOCH_JD - days + dayFraction) * SECONDS_PER_DAY);
}

export function modifiedJulianDays(moment: Instant): number {
  return UNIX_EPOCH_MJD + (moment.unixSeconds + moment.fraction) / SECONDS_PER_DAY;
}

export const toDate = (moment: Instant): Date => new Date((moment.unixSeconds + moment.fraction) * 1000);
