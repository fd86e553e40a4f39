import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { instant, parseInstant } from '../../core/instant.js';
import { carriedEarthOrientation, parseEarthOrientation } from './orientation-file.js';
import { earthOrientation, onUnknownOrientation, useEarthOrientation } from './orientation.js';
import { lastMjd, readTable, unixOfMjd } from './orientation-table.js';

/** Around the leap second of 2016, as printed by the IERS. */
const FINALS = `161229 57751.00 I  0.084635 0.000052  0.264193 0.000037  I-0.4060885 0.0000079  0.8162 0.0055
161230 57752.00 I  0.082883 0.000052  0.263539 0.000038  I-0.4069180 0.0000079  0.8286 0.0056
161231 57753.00 I  0.081400 0.000052  0.263094 0.000039  I-0.4077601 0.0000078  0.8842 0.0055
17 1 1 57754.00 I  0.080504 0.000028  0.263145 0.000028  I 0.5912821 0.0000077  1.0342 0.0050
17 1 2 57755.00 P  0.080285 0.000029  0.263605 0.000032  P 0.5901752 0.0000063  1.1730 0.0048
17 1 3 57756.00
`;
const C04 = `# EOP (IERS) 20 C04 TIME SERIES
# YR  MM  DD  HH       MJD        x(")        y(")  UT1-UTC(s)       dX(")       dY(")
2016  12  30   0  57752.00    0.082941    0.263562  -0.4069114    0.000052   -0.000172
2016  12  31   0  57753.00    0.081440    0.263099  -0.4077697    0.000106   -0.000192
2017   1   1   0  57754.00    0.080549    0.263128   0.5912870    0.000120   -0.000168
2017   1   2   0  57755.00    0.080338    0.263580   0.5902172    0.000107   -0.000135
`;
/** Until 2023, without the hour. */
const OLD_C04 = C04.replaceAll(/ {3}0 {2}(577\d\d)\.00/g, '  $1');

const close = (got: number, expected: number, tolerance: number): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${got} should be ${expected} ± ${tolerance}`);
};

describe("the Earth's orientation", () => {
  after(() => {
    useEarthOrientation('built-in');
  });

  it('is read from finals2000A and from C04, old and new', () => {
    const finals = parseEarthOrientation(FINALS, 'finals');
    assert.deepEqual([finals.firstMjd, finals.rows, finals.lastMeasuredMjd], [57_751, 5, 57_754]);
    for (const text of [C04, OLD_C04]) {
      const table = parseEarthOrientation(text, 'c04');
      assert.deepEqual([table.firstMjd, table.rows, lastMjd(table)], [57_752, 4, 57_755]);
      const midnight = readTable(table, parseInstant('2016-12-31'));
      assert.ok(midnight);
      // TAI − UTC was 36 s.
      close(midnight.ut1MinusTaiS, -0.4077697 - 36, 1e-12);
      close(midnight.poleXArcsec, 0.08144, 1e-12);
      close(midnight.poleYArcsec, 0.263099, 1e-12);
    }
  });

  it('runs on through a leap second, in which UT1 − UTC still counts from before', () => {
    useEarthOrientation(parseEarthOrientation(FINALS, 'finals'));
    const at = (text: string): number => earthOrientation(parseInstant(text)).ut1MinusUtcS;
    close(at('2016-12-30'), -0.406918, 1e-12);
    close(at('2017-01-01'), 0.5912821, 1e-12);
    // The day before midnight lasted 86 401 s; UT1 lags by about 0.95 ms in it.
    close(at('2016-12-31T23:59:60.999'), 0.5912821 - 1, 1e-7);
    close(at('2016-12-31T12:00:00'), (-0.4077601 + 0.5912821 - 1) / 2, 1e-4);
  });

  it('stands in the package from 1973 to a year ahead, every third day', () => {
    const table = carriedEarthOrientation();
    assert.match(table.origin, /^the built-in finals2000A of the IERS \(measured to 20\d\d-\d\d-\d\d\)$/);
    assert.deepEqual([table.firstMjd, table.stepDays], [41_684, 3]);
    assert.ok(lastMjd(table) > table.lastMeasuredMjd + 300);
    // Rows of the days between are interpolated from four neighbours.
    const between = readTable(table, instant(unixOfMjd(57_753)));
    assert.ok(between);
    close(between.ut1MinusTaiS, -0.4077601 - 36, 2e-4);
    close(between.poleXArcsec, 0.0814, 1.2e-3);
    close(between.poleYArcsec, 0.263094, 1.2e-3);
  });

  it('is unknown outside the table: reported once a side, UT1 taken as UTC', () => {
    const logged: string[] = [];
    onUnknownOrientation((words) => logged.push(words));
    useEarthOrientation(parseEarthOrientation(FINALS, 'my-finals'));
    for (const text of ['2030-01-01', '2017-01-03', '2016-12-01', '2040-01-01'])
      assert.deepEqual(earthOrientation(parseInstant(text)), { ut1MinusUtcS: 0, poleXRad: 0, poleYRad: 0 });
    assert.deepEqual(
      logged.map((words) => words.replace(/: UT1.*/, '')),
      [
        '2030-01-01T00:00:00Z: my-finals ends on 2017-01-02',
        '2016-12-01T00:00:00Z: my-finals begins on 2016-12-29',
      ],
    );
    assert.match(logged[0], /UT1 is taken as UTC .* up to 14″; give a finals2000A .* eop: FILE$/);
  });

  it('refuses what is no such table, has holes, or knows of a leap second that we do not', () => {
    const refused = (text: string, words: RegExp): void => {
      assert.throws(() => parseEarthOrientation(text, 'eop.txt'), words);
    };
    refused('hello\n', /eop.txt: is no table of the Earth's orientation that we read; give the finals2000A/);
    refused(FINALS.split('\n').slice(0, 2).join('\n'), /has 2 days/);
    refused(FINALS.replace(/^161231.*\n/m, ''), /its days are not even: 57754 follows 57752/);
    refused(FINALS.replace('I-0.4069180', 'I 7.4069180'), /UT1 − UTC is 7.406918 s/);
    refused(FINALS.replace('I-0.4069180', 'I 0.5930820'), /jumps by 0.999 s before MJD 57752/);
    refused(C04.replace('0.082941', 'nonsense'), /the pole is at NaN/);
  });
});
