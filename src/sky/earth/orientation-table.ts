/** Daily UT1 − UTC and pole coordinates, measured and predicted by the IERS, with interpolation. */
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { taiMinusUtcS } from '../../core/leap-seconds.js';
import { SECONDS_PER_DAY } from '../../core/units.js';

/** One midnight UTC. */
export interface OrientationRow {
  readonly mjd: number;
  readonly poleXArcsec: number;
  readonly poleYArcsec: number;
  readonly ut1MinusUtcS: number;
  readonly kind: 'measured' | 'predicted';
}

export interface OrientationTable {
  /** Its author and date, for messages. */
  readonly origin: string;
  readonly firstMjd: number;
  readonly stepDays: number;
  readonly rows: number;
  /** Later rows are predictions. */
  readonly lastMeasuredMjd: number;
  /** [row][3]: pole x and y in arcseconds, UT1 − TAI in seconds, which has no steps at leap seconds. */
  readonly values: Float64Array;
}

const MJD_OF_UNIX_EPOCH = 40_587;
export const unixOfMjd = (mjd: number): number => (mjd - MJD_OF_UNIX_EPOCH) * SECONDS_PER_DAY;

/** A day's length differs from 86 400 s by a few milliseconds; an unknown leap second changes it by a thousand. */
const MOST_CHANGE_S_PER_DAY = 0.02;

/** Rows at equal steps, checked. */
export function orientationTable(origin: string, rows: readonly OrientationRow[]): OrientationTable {
  if (rows.length < 4) {
    refuse(
      origin,
      `has ${rows.length} days of the Earth's orientation`,
      'give a whole finals2000A or EOP C04 file',
    );
  }
  const firstMjd = rows[0].mjd;
  const stepDays = rows[1].mjd - firstMjd;
  const values = new Float64Array(3 * rows.length);
  let lastMeasuredMjd = firstMjd - 1;
  rows.forEach(({ mjd, poleXArcsec, poleYArcsec, ut1MinusUtcS, kind }, k) => {
    if (!(stepDays > 0) || mjd !== firstMjd + k * stepDays)
      refuse(
        origin,
        `its days are not even: ${mjd} follows ${rows[Math.max(0, k - 1)].mjd}`,
        'copy it again',
      );
    if (!(Math.abs(poleXArcsec) < 2 && Math.abs(poleYArcsec) < 2 && Math.abs(ut1MinusUtcS) < 2)) {
      refuse(
        origin,
        `on MJD ${mjd} the pole is at ${poleXArcsec}″, ${poleYArcsec}″ and UT1 − UTC is ${ut1MinusUtcS} s`,
        'copy it again',
      );
    }
    values.set([poleXArcsec, poleYArcsec, ut1MinusUtcS - taiMinusUtcS(unixOfMjd(mjd))], 3 * k);
    const change = k === 0 ? 0 : values[3 * k + 2] - values[3 * k - 1];
    if (Math.abs(change) > MOST_CHANGE_S_PER_DAY * stepDays) {
      refuse(
        origin,
        `UT1 − TAI jumps by ${change.toFixed(3)} s before MJD ${mjd}`,
        'where the IERS has put a leap second that this version does not know take a newer one, else copy the file again',
      );
    }
    if (kind === 'measured') lastMeasuredMjd = mjd;
  });
  return { origin, firstMjd, stepDays, rows: rows.length, lastMeasuredMjd, values };
}

export const lastMjd = ({ firstMjd, stepDays, rows }: OrientationTable): number =>
  firstMjd + (rows - 1) * stepDays;

interface TableReading {
  readonly poleXArcsec: number;
  readonly poleYArcsec: number;
  readonly ut1MinusTaiS: number;
}

/** Interpolated from the four nearest rows; undefined outside the table. */
export function readTable(table: OrientationTable, moment: Instant): TableReading | undefined {
  const days = MJD_OF_UNIX_EPOCH + (moment.unixSeconds + moment.fraction) / SECONDS_PER_DAY;
  const place = (days - table.firstMjd) / table.stepDays;
  if (!(place >= 0 && place <= table.rows - 1)) return undefined;
  const first = Math.min(Math.max(0, Math.floor(place) - 1), table.rows - 4);
  const t = place - first;
  const weights = [
    -((t - 1) * (t - 2) * (t - 3)) / 6,
    (t * (t - 2) * (t - 3)) / 2,
    -(t * (t - 1) * (t - 3)) / 2,
    (t * (t - 1) * (t - 2)) / 6,
  ];
  const at = (column: number): number =>
    weights.reduce((sum, weight, k) => sum + weight * table.values[3 * (first + k) + column], 0);
  return { poleXArcsec: at(0), poleYArcsec: at(1), ut1MinusTaiS: at(2) };
}
