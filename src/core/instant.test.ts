import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addSamples,
  addSeconds,
  formatInstant,
  fromJulianDate,
  instant,
  julianDate,
  modifiedJulianDays,
  parseInstant,
  secondsBetween,
  toDate,
} from './instant.js';
import { taiMinusUtcS } from './leap-seconds.js';

describe('instants', () => {
  it('parse as UTC, with any fraction', () => {
    // 2026-06-21 is day 20,625 of Unix time: 20,625·86,400 + 4·3,600 = 1,782,014,400
    const expected = { unixSeconds: 1_782_014_400, fraction: 0 };
    for (const text of [
      '2026-06-21T04:00:00Z',
      '2026-06-21T04:00:00',
      '2026-06-21 04:00',
      ' 2026-06-21T04:00Z ',
    ]) {
      assert.deepEqual(parseInstant(text), expected, text);
    }
    assert.deepEqual(parseInstant('2026-06-21'), { unixSeconds: 1_782_000_000, fraction: 0 });
    assert.deepEqual(parseInstant('2026-06-21T04:00:00.125Z'), { ...expected, fraction: 0.125 });
    assert.equal(parseInstant('2026-06-21T04:00:00.123456789012').fraction, 0.123456789012);
  });

  it('refuse what is no time, naming it', () => {
    for (const text of [
      '',
      'now',
      '2026-13-01',
      '2026-06-21T25:00:00',
      // Date.parse alone would read these as dates in March or on the next day.
      '2026-02-29',
      '2026-04-31T12:00:00',
      '2026-06-21T24:00:00',
      '2026-06-21T04:00:00+02:00',
      '21.6.2026',
    ]) {
      assert.throws(() => parseInstant(text, 'start'), /start: '.*' is not a UTC time; write it like/, text);
    }
  });

  it('format to the nearest tick, carrying into the second', () => {
    const moment = parseInstant('2026-12-31T23:59:59.9996');
    assert.equal(formatInstant(moment, 4), '2026-12-31T23:59:59.9996Z');
    assert.equal(formatInstant(moment), '2027-01-01T00:00:00.000Z');
    assert.equal(formatInstant(moment, 0), '2027-01-01T00:00:00Z');
    assert.equal(formatInstant(instant(0, 0.004)), '1970-01-01T00:00:00.004Z');
    assert.equal(toDate(parseInstant('2026-06-21T04:00:00.5')).toISOString(), '2026-06-21T04:00:00.500Z');
  });

  it('are written in any year the calendar has, and refused beyond', () => {
    assert.equal(parseInstant('2024-02-29').unixSeconds, 1_709_164_800);
    // 10,000-01-01 is day 2,932,897.
    assert.equal(formatInstant(instant(2_932_897 * 86_400), 0), '+010000-01-01T00:00:00Z');
    assert.equal(formatInstant(instant(-1), 0), '1969-12-31T23:59:59Z');
    for (const seconds of [9e12, -9e12, NaN]) {
      assert.throws(() => formatInstant({ unixSeconds: seconds, fraction: 0 }), /no calendar reaches/);
    }
  });

  it('carry fractions either way', () => {
    assert.deepEqual(instant(10, 1.25), { unixSeconds: 11, fraction: 0.25 });
    assert.deepEqual(instant(10, -0.25), { unixSeconds: 9, fraction: 0.75 });
    assert.deepEqual(instant(10.5, 0.75), { unixSeconds: 11, fraction: 0.25 });
    assert.deepEqual(addSeconds(instant(10, 0.75), 0.5), { unixSeconds: 11, fraction: 0.25 });
    assert.deepEqual(addSeconds(instant(10, 0.25), -0.5), { unixSeconds: 9, fraction: 0.75 });
    assert.equal(secondsBetween(instant(10, 0.75), instant(12, 0.25)), 1.5);
    // A tiny amount below a second rounds to that second.
    assert.deepEqual(instant(10, -1e-20), { unixSeconds: 10, fraction: 0 });
  });

  it('count samples without losing the fraction', () => {
    // 10⁹ + 1 samples at 32 Hz: 31,250,000 s and one sample of 1/32 s
    assert.deepEqual(addSamples(instant(5, 0.5), 1e9 + 1, 32), {
      unixSeconds: 31_250_005,
      fraction: 0.53125,
    });
    // A year of 20 MHz samples and one more: the last is 50 ns later, to a femtosecond.
    const later = addSamples(instant(1_782_014_400), 365 * 86_400 * 20e6 + 1, 20e6);
    assert.equal(later.unixSeconds, 1_782_014_400 + 365 * 86_400);
    assert.ok(Math.abs(later.fraction - 50e-9) < 1e-15);
  });

  it('Julian Dates: J2000.0 and back within a nanosecond', () => {
    // 2000-01-01T12:00 is JD 2,451,545.0, so its midnight is 2,451,544.5 and half a day has passed.
    const noon = parseInstant('2000-01-01T12:00:00Z');
    assert.deepEqual(julianDate(noon), { midnightJd: 2_451_544.5, dayFraction: 0.5 });
    assert.equal(modifiedJulianDays(noon), 51_544.5);
    assert.deepEqual(fromJulianDate(2_451_545, 0), noon);
    for (const text of [
      '2026-06-21T23:59:59.999999999',
      '1969-12-31T23:59:59.5',
      '2033-02-03T04:05:06.123456789',
    ]) {
      const moment = parseInstant(text);
      const { midnightJd, dayFraction } = julianDate(moment);
      assert.ok(dayFraction >= 0 && dayFraction < 1);
      assert.ok(Math.abs(secondsBetween(moment, fromJulianDate(midnightJd, dayFraction))) < 1e-9, text);
    }
  });

  it('have a leap second where there was one: 23:59:60', () => {
    const leap = parseInstant('2016-12-31T23:59:60.25Z');
    assert.deepEqual(leap, { unixSeconds: parseInstant('2016-12-31T23:59:59').unixSeconds, fraction: 1.25 });
    assert.equal(formatInstant(leap), '2016-12-31T23:59:60.250Z');
    assert.equal(formatInstant(leap, 0), '2016-12-31T23:59:60Z');
    for (const [text, rounded] of [
      ['2016-12-31T23:59:59.9996', '2016-12-31T23:59:60.000Z'],
      ['2016-12-31T23:59:60.9996', '2017-01-01T00:00:00.000Z'],
    ])
      assert.equal(formatInstant(parseInstant(text)), rounded);
    for (const day of ['2016-06-30', '2020-12-31', '2016-12-30'])
      assert.throws(
        () => parseInstant(`${day}T23:59:60Z`, '--start'),
        new RegExp(`--start: '${day}T23:59:60Z': ${day} did not end with a leap second`),
      );
    assert.throws(() => parseInstant('2016-12-31T22:59:60Z'), /is not a UTC time/);
  });

  it('count a leap second as a second, whichever way they run', () => {
    const start = parseInstant('2016-12-31T23:59:58.5Z');
    const texts = ['23:59:59.500', '23:59:60.500', '00:00:00.500', '00:00:01.500'];
    texts.forEach((text, k) => {
      for (const moment of [addSeconds(start, k + 1), addSamples(start, (k + 1) * 32e6, 32e6)]) {
        assert.equal(formatInstant(moment).slice(11, -1), text);
        assert.equal(secondsBetween(start, moment), k + 1);
        assert.deepEqual(addSeconds(moment, -(k + 1)), start);
      }
    });
    const leap = addSeconds(start, 2);
    assert.deepEqual(addSeconds(leap, 0), leap);
    assert.equal(formatInstant(addSeconds(leap, 0.25)), '2016-12-31T23:59:60.750Z');
    assert.equal(secondsBetween(leap, parseInstant('2017-01-01')), 0.5);
    // From 1980-01-06 GPS has counted 18 leap seconds by 2017: second 1,167,264,018 is midnight.
    const gps = parseInstant('1980-01-06');
    assert.deepEqual(addSeconds(gps, 1_167_264_018), parseInstant('2017-01-01'));
    assert.equal(formatInstant(addSeconds(gps, 1_167_264_017), 0), '2016-12-31T23:59:60Z');
    assert.equal(secondsBetween(parseInstant('2017-01-01'), parseInstant('2026-01-01')), 3287 * 86_400);
  });

  it('know every leap second since 1972', () => {
    const after =
      '1972-07 1973-01 1974-01 1975-01 1976-01 1977-01 1978-01 1979-01 1980-01 1981-07 1982-07 1983-07 1985-07 1988-01 ' +
      '1990-01 1991-01 1992-07 1993-07 1994-07 1996-01 1997-07 1999-01 2006-01 2009-01 2012-07 2015-07 2017-01';
    const known: string[] = [];
    for (let year = 1970; year < 2030; year++)
      for (const month of ['01', '07']) {
        const first = parseInstant(`${year}-${month}-01`);
        const tai = [taiMinusUtcS(first.unixSeconds - 1), taiMinusUtcS(first.unixSeconds)];
        if (tai[1] !== tai[0]) known.push(`${year}-${month}`);
      }
    assert.equal(known.join(' '), after);
    assert.deepEqual(
      ['1972-01-01', '2000-01-01', '2026-01-01'].map((day) => taiMinusUtcS(parseInstant(day).unixSeconds)),
      [10, 32, 37],
    );
  });
});
