/**
 * Orientation of the Earth at a moment, from the table in use: the one in the package by default. One table serves the
 * whole process.
 */
import { formatInstant, instant, type Instant } from '../../core/instant.js';
import { taiMinusUtcS } from '../../core/leap-seconds.js';
import { RADIANS_PER_ARCSECOND } from './angles.js';
import { carriedEarthOrientation } from './orientation-file.js';
import { lastMjd, readTable, unixOfMjd, type OrientationTable } from './orientation-table.js';

export interface EarthOrientation {
  readonly ut1MinusUtcS: number;
  /** Position of the Earth's axis relative to ITRF's pole: x along Greenwich, y along 90° west. */
  readonly poleXRad: number;
  readonly poleYRad: number;
}

/** Outside the table: UT1 stays within 0.9 s of UTC. */
const UNKNOWN: EarthOrientation = { ut1MinusUtcS: 0, poleXRad: 0, poleYRad: 0 };

let inUse: OrientationTable | undefined;
let warn: (words: string) => void = (words) => {
  process.emitWarning(words, 'CorellaWarning');
};
const warned = new Set<string>();

/** Sets the table for the whole process. */
export function useEarthOrientation(table: OrientationTable | 'built-in'): void {
  inUse = table === 'built-in' ? undefined : table;
  warned.clear();
}

/** Sets the listener for dates outside the table; it is called once for dates before it and once for dates after it. */
export function onUnknownOrientation(listener: (words: string) => void): void {
  warn = listener;
}

export function earthOrientation(moment: Instant): EarthOrientation {
  inUse ??= carriedEarthOrientation();
  const reading = readTable(inUse, moment);
  if (!reading) {
    warnUnknown(inUse, moment);
    return UNKNOWN;
  }
  return {
    ut1MinusUtcS: reading.ut1MinusTaiS + taiMinusUtcS(moment.unixSeconds),
    poleXRad: reading.poleXArcsec * RADIANS_PER_ARCSECOND,
    poleYRad: reading.poleYArcsec * RADIANS_PER_ARCSECOND,
  };
}

function warnUnknown(table: OrientationTable, moment: Instant): void {
  const day = (mjd: number): string => formatInstant(instant(unixOfMjd(mjd)), 0).slice(0, 10);
  const side = moment.unixSeconds < unixOfMjd(table.firstMjd) ? 'begins on' : 'ends on';
  if (warned.has(side)) return;
  warned.add(side);
  warn(
    `${formatInstant(moment, 0)}: ${table.origin} ${side} ${day(side === 'begins on' ? table.firstMjd : lastMjd(table))}: ` +
      'UT1 is taken as UTC and the pole as fixed, so places may be off by up to 14″; ' +
      'give a finals2000A of the IERS that has the day with eop: FILE',
  );
}
