/** Epochs of clocks that count elapsed seconds, leap seconds included (VDIF, GPS), converted to Unix time. */
import { addSeconds, instant, type Instant } from '../instant.js';

const utc = (year: number, month: number, day: number): number => Date.UTC(year, month - 1, day) / 1000;

/** The moment `elapsedS` elapsed seconds after another. */
export const afterElapsedSeconds = (epochUnixSeconds: number, elapsedS: number): Instant =>
  addSeconds(instant(epochUnixSeconds), elapsedS);

const MJD_OF_UNIX_EPOCH = 40_587;
export const unixFromMjd = (mjdDays: number): number => (mjdDays - MJD_OF_UNIX_EPOCH) * 86_400;

/** VDIF counts half-years from 2000: epoch 29 is July 2014. */
export const vdifEpochUnixSeconds = (epoch: number): number =>
  utc(2000 + Math.floor(epoch / 2), epoch % 2 === 0 ? 1 : 7, 1);

/** The latest half-year that has begun, 0 before 2000. */
export function vdifEpochAt(unixSeconds: number): number {
  const date = new Date(unixSeconds * 1000);
  return Math.max(0, (date.getUTCFullYear() - 2000) * 2 + (date.getUTCMonth() >= 6 ? 1 : 0));
}

/** 1980-01-06T00:00:00 UTC. */
export const GPS_EPOCH_UNIX_SECONDS = utc(1980, 1, 6);
