/**
 * UTC among clocks that never pause. Recorders and samplers that count elapsed seconds (VDIF, GPS) count leap seconds
 * too; Unix time does not. Leap seconds come only at the end of June or December.
 */

const utc = (year: number, month: number, day: number): number => Date.UTC(year, month - 1, day) / 1000;

/** Unix time of the first second after each leap second since GPS time began (IERS Bulletin C). */
const AFTER_LEAP = [
  utc(1981, 7, 1),
  utc(1982, 7, 1),
  utc(1983, 7, 1),
  utc(1985, 7, 1),
  utc(1988, 1, 1),
  utc(1990, 1, 1),
  utc(1991, 1, 1),
  utc(1992, 7, 1),
  utc(1993, 7, 1),
  utc(1994, 7, 1),
  utc(1996, 1, 1),
  utc(1997, 7, 1),
  utc(1999, 1, 1),
  utc(2006, 1, 1),
  utc(2009, 1, 1),
  utc(2012, 7, 1),
  utc(2015, 7, 1),
  utc(2017, 1, 1),
];

/** Leap seconds from the beginning of GPS time up to a moment. */
const leapsBy = (unixSeconds: number): number => AFTER_LEAP.filter((after) => after <= unixSeconds).length;

/** Unix seconds after `elapsedS` real seconds from a moment; within a leap second, the second it repeats. */
export function afterElapsedSeconds(epochUnixSeconds: number, elapsedS: number): number {
  const steady = epochUnixSeconds + leapsBy(epochUnixSeconds) + elapsedS;
  // As few leap seconds as will do: in one that repeats a second, one more than that second had seen.
  for (let passed = 0; ; passed++) if (leapsBy(steady - passed) <= passed) return steady - passed;
}

/** Real seconds from one Unix time to another, leap seconds between them counted. */
export const elapsedSeconds = (fromUnixSeconds: number, toUnixSeconds: number): number =>
  toUnixSeconds + leapsBy(toUnixSeconds) - fromUnixSeconds - leapsBy(fromUnixSeconds);

const MJD_OF_UNIX_EPOCH = 40_587;
export const unixFromMjd = (mjdDays: number): number => (mjdDays - MJD_OF_UNIX_EPOCH) * 86_400;

/** VDIF counts half-years from 2000: epoch 29 is July 2014. */
export const vdifEpochUnixSeconds = (epoch: number): number =>
  utc(2000 + Math.floor(epoch / 2), epoch % 2 === 0 ? 1 : 7, 1);

/** 1980-01-06T00:00:00 UTC. */
export const GPS_EPOCH_UNIX_SECONDS = utc(1980, 1, 6);
