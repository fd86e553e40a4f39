import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../../core/instant.js';
import { afterElapsedSeconds, unixFromMjd, vdifEpochUnixSeconds } from './leap-seconds.js';

const unix = (text: string): number => parseInstant(text).unixSeconds;
const gpsEpoch = unix('1980-01-06');

describe('leap seconds', () => {
  it('come where the IERS has put them, one after the other', () => {
    const days =
      '1981-07-01 1982-07-01 1983-07-01 1985-07-01 1988-01-01 1990-01-01 1991-01-01 1992-07-01 1993-07-01 ' +
      '1994-07-01 1996-01-01 1997-07-01 1999-01-01 2006-01-01 2009-01-01 2012-07-01 2015-07-01 2017-01-01';
    for (const [before, day] of days.split(' ').entries()) {
      const midnight = unix(day);
      // GPS runs ahead by as many seconds as there have been; the leap second repeats the first one after it.
      const elapsed = midnight - gpsEpoch + before;
      assert.equal(afterElapsedSeconds(gpsEpoch, elapsed - 1), midnight - 1, day);
      assert.equal(afterElapsedSeconds(gpsEpoch, elapsed), midnight - 1, `${day}, the leap second`);
      assert.equal(afterElapsedSeconds(gpsEpoch, elapsed + 1), midnight, day);
    }
    // GPS second 1,167,264,018 is 2017-01-01T00:00:00, eighteen ahead.
    assert.equal(afterElapsedSeconds(gpsEpoch, 1_167_264_018), unix('2017-01-01'));
    assert.equal(afterElapsedSeconds(unix('2017-01-01'), 86_400), unix('2017-01-02'));
  });

  it('are counted from epochs of half a year, and days from 1858', () => {
    assert.equal(vdifEpochUnixSeconds(0), unix('2000-01-01'));
    assert.equal(vdifEpochUnixSeconds(29), unix('2014-07-01'));
    assert.equal(unixFromMjd(51_544.5), unix('2000-01-01T12:00:00'));
  });
});
