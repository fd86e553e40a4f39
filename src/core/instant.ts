/**
 * A moment in UTC, exact enough for any sample clock: whole Unix seconds beside a fraction, since one
 * double of Unix time resolves only 0.2 µs. Unix time has no leap seconds; readers that count atomic
 * seconds convert on arrival.
 */
import { refuse } from './errors.js';
import { SECONDS_PER_DAY } from './units.js';

export interface Instant {
  readonly unixSeconds: number;
  /** In [0, 1). */
  readonly fraction: number;
}

/** Julian Date of 1970-01-01T00:00:00 UTC. */
const UNIX_EPOCH_JD = 2_440_587.5;
const UNIX_EPOCH_MJD = 40_587;

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

export const addSeconds = (start: Instant, seconds: number): Instant => {
  const whole = Math.floor(seconds);
  return instant(start.unixSeconds + whole, start.fraction + (seconds - whole));
};

/** Whole samples after a start, without losing the fraction to a large product. */
export function addSamples(start: Instant, samples: number, sampleRateHz: number): Instant {
  const wholeSeconds = Math.floor(samples / sampleRateHz);
  return instant(
    start.unixSeconds + wholeSeconds,
    start.fraction + (samples - wholeSeconds * sampleRateHz) / sampleRateHz,
  );
}

export const secondsBetween = (start: Instant, end: Instant): number =>
  end.unixSeconds - start.unixSeconds + (end.fraction - start.fraction);

/** Accepts 2026-06-21T04:00:00, with or without a fraction of any length and Z; always UTC. */
export function parseInstant(text: string, where = 'time'): Instant {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?)?Z?$/.exec(text.trim());
  const time = match?.at(2) ?? '00:00:00';
  const milliseconds = match ? Date.parse(`${match[1]}T${time.length === 5 ? `${time}:00` : time}Z`) : NaN;
  // Date.parse reads 31 April as 1 May and 24:00 as the next day.
  if (!match || Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(match[1])) {
    refuse(where, `'${text}' is not a UTC time`, 'write it like 2026-06-21T04:00:00Z');
  }
  return instant(milliseconds / 1000, Number(`0${match.at(3) ?? ''}`));
}

/** ISO 8601 with as many decimals as asked; rounds to the nearest, carrying into the second. */
export function formatInstant(moment: Instant, decimals = 3): string {
  const scale = 10 ** decimals;
  const ticks = Math.round(moment.fraction * scale);
  const carried = ticks >= scale ? 1 : 0;
  const date = new Date((moment.unixSeconds + carried) * 1000);
  if (Number.isNaN(date.getTime())) {
    refuse('time', `no calendar reaches ${moment.unixSeconds} s from 1970`, 'check what wrote it');
  }
  const seconds = date.toISOString().slice(0, -'.000Z'.length);
  if (decimals === 0) return `${seconds}Z`;
  return `${seconds}.${String(carried ? 0 : ticks).padStart(decimals, '0')}Z`;
}

/** Julian Date as a midnight (….5) and the fraction of the day since: two doubles keep every nanosecond. */
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
