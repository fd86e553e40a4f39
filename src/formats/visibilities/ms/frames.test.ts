/** Times of Measurement Sets in UTC, without casacore. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseInstant } from '../../../core/instant.js';
import { clockOf } from './frames.js';
import { MJD_TO_UNIX_S, type Rows } from './rows.js';

const rowsAt = (...times: readonly number[]): Rows => ({
  times: Float64Array.from(times),
  intervals: new Float64Array(times.length).fill(1),
  antenna1: new Int32Array(times.length),
  antenna2: new Int32Array(times.length),
  fields: new Int32Array(times.length),
  uvw: new Float64Array(3 * times.length),
  places: new Int32Array(times.length),
});
const mjdS = (text: string): number => parseInstant(text).unixSeconds + MJD_TO_UNIX_S;

it('TAI is ahead of UTC by the leap seconds of the day, and a leap second has no date', () => {
  const { toUtc } = clockOf('a.ms', 'TAI');
  const { times } = toUtc(
    rowsAt(
      mjdS('2021-12-11T04:00:37') + 0.25,
      // Before and after the leap second at the end of 2016.
      mjdS('2017-01-01T00:00:35'),
      mjdS('2017-01-01T00:00:37'),
      mjdS('1972-01-02T00:00:10'),
    ),
  );
  assert.deepEqual(
    [...times],
    [
      mjdS('2021-12-11T04:00:00') + 0.25,
      mjdS('2016-12-31T23:59:59'),
      mjdS('2017-01-01T00:00:00'),
      mjdS('1972-01-02T00:00:00'),
    ],
  );
  assert.throws(() => toUtc(rowsAt(mjdS('2017-01-01T00:00:36') + 0.5)), /within a leap second/);
  assert.throws(() => clockOf('a.ms', 'TDB'), /counts its times in TDB; write it with times in UTC/);
});
