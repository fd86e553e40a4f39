/**
 * How the Earth stands at a moment, by the table in use: the one in the package unless another was given. One table
 * serves the whole process, as one Earth serves every telescope.
 */
import { formatInstant, instant, type Instant } from '../../core/instant.js';
import { taiMinusUtcS } from '../../core/leap-seconds.js';
import { RADIANS_PER_ARCSECOND } from './angles.js';
import { carriedEarthOrientation } from './orientation-file.js';
import { lastMjd, readTable, unixOfMjd, type OrientationTable } from './orientation-table.js';

export interface EarthOrientation {
  readonly ut1MinusUtcS: number;
  /** Of the Earth's axis in the ground, from ITRF's pole: x along Greenwich, y along 90° west. */
  readonly poleXRad: number;
  readonly poleYRad: number;
}

/** Where no table reaches: UT1 is held within 0.9 s of UTC. */
const UNKNOWN: EarthOrientation = { ut1MinusUtcS: 0, poleXRad: 0, poleYRad: 0 };

let inUse: OrientationTable | undefined;
let tell: (words: string) => void = (words) => {
  process.emitWarning(words, 'CorellaWarning');
};
const told = new Set<string>();

/** From now on, for everything in the process. */
export function useEarthOrientation(table: OrientationTable | 'built-in'): void {
  inUse = table === 'built-in' ? undefined : table;
  told.clear();
}

/** Who hears of dates that the table does not reach, once for those before it and once for those after. */
export function onUnknownOrientation(listener: (words: string) => void): void {
  tell = listener;
}

export function earthOrientation(moment: Instant): EarthOrientation {
  inUse ??= carriedEarthOrientation();
  const reading = readTable(inUse, moment);
  if (!reading) {
    tellUnknown(inUse, moment);
    return UNKNOWN;
  }
  return {
    ut1MinusUtcS: reading.ut1MinusTaiS + taiMinusUtcS(moment.unixSeconds),
    poleXRad: reading.poleXArcsec * RADIANS_PER_ARCSECOND,
    poleYRad: reading.poleYArcsec * RADIANS_PER_ARCSECOND,
  };
}

function tellUnknown(table: OrientationTable, moment: Instant): void {
  const day = (mjd: number): string => formatInstant(instant(unixOfMjd(mjd)), 0).slice(0, 10);
  const side = moment.unixSeconds < unixOfMjd(table.firstMjd) ? 'begins on' : 'ends on';
  if (told.has(side)) return;
  told.add(side);
  tell(
    `${formatInstant(moment, 0)}: ${table.origin} ${side} ${day(side === 'begins on' ? table.firstMjd : lastMjd(table))}: ` +
      'UT1 is taken as UTC and the pole as fixed, so places may be off by up to 14″; ' +
      'give a finals2000A of the IERS that has the day with eop: FILE',
  );
}
