/** The rows of a Measurement Set without their values, and the selection of rows to read. */
import { refuse } from '../../../core/errors.js';
import { addSeconds, instant, type Instant } from '../../../core/instant.js';
import type { Casacore } from './library.js';

/** Seconds from MJD 0 to 1970. */
export const MJD_TO_UNIX_S = 3_506_716_800;

export interface Rows {
  readonly times: Float64Array;
  readonly intervals: Float64Array;
  readonly antenna1: Int32Array;
  readonly antenna2: Int32Array;
  readonly fields: Int32Array;
  readonly uvw: Float64Array;
  /** Row numbers in the set. */
  readonly places: Int32Array;
}

export function readRows(
  casacore: Casacore,
  handle: unknown,
  path: string,
  { rowCount }: { readonly rowCount: number },
): Rows {
  const rows: Rows = {
    times: new Float64Array(rowCount),
    intervals: new Float64Array(rowCount),
    antenna1: new Int32Array(rowCount),
    antenna2: new Int32Array(rowCount),
    fields: new Int32Array(rowCount),
    uvw: new Float64Array(3 * rowCount),
    places: Int32Array.from({ length: rowCount }, (_, row) => row),
  };
  const descriptions = new Int32Array(rowCount);
  const { times, intervals, antenna1, antenna2, fields, uvw } = rows;
  casacore.call(
    ...(['ms_rows', path, handle, 0, rowCount] as const),
    ...[times, intervals, antenna1, antenna2, fields, descriptions, uvw],
  );
  if (descriptions.some((one) => one !== 0))
    refuse(
      path,
      'holds several spectral windows',
      'split them first (CASA: split, one spw each), then join the files',
    );
  return rows;
}

/** The rows of one field. */
export function rowsOfField(all: Rows, field: number): Rows {
  const kept = all.places.filter((row) => all.fields[row] === field);
  const uvw = new Float64Array(3 * kept.length);
  kept.forEach((row, k) => {
    uvw.set(all.uvw.subarray(3 * row, 3 * row + 3), 3 * k);
  });
  return {
    times: Float64Array.from(kept, (row) => all.times[row]),
    intervals: Float64Array.from(kept, (row) => all.intervals[row]),
    antenna1: kept.map((row) => all.antenna1[row]),
    antenna2: kept.map((row) => all.antenna2[row]),
    fields: kept.map((row) => all.fields[row]),
    uvw,
    places: kept,
  };
}

interface Slot {
  readonly middle: Instant;
  durationS: number;
  readonly rows: number[];
}

export function slotsOf(path: string, { times, intervals, places }: Rows): readonly Slot[] {
  const slots = new Map<number, Slot>();
  times.forEach((timeS, row) => {
    if (!(timeS > 0 && timeS < 1e10 && intervals[row] > 0))
      refuse(path, `row ${places[row]} is at ${timeS} s for ${intervals[row]} s`, 'it is damaged');
    const unix = timeS - MJD_TO_UNIX_S;
    const slot = slots.get(timeS);
    if (slot) {
      slot.rows.push(row);
      slot.durationS = Math.max(slot.durationS, intervals[row]);
    } else {
      const whole = Math.floor(unix);
      slots.set(timeS, { middle: instant(whole, unix - whole), durationS: intervals[row], rows: [row] });
    }
  });
  return [...slots].sort(([x], [y]) => x - y).map(([, slot]) => slot);
}

/** Start of its data. */
export const startOf = ({ middle, durationS }: Slot): Instant => addSeconds(middle, -durationS / 2);
