import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../instant.js';
import { afterElapsedSeconds, unixFromMjd, vdifEpochUnixSeconds } from './epochs.js';

const unix = (text: string): number => parseInstant(text).unixSeconds;

describe('leap seconds', () => {
  it('are counted by clocks that never pause', () => {
    // GPS second 1,167,264,018 is 2017-01-01T00:00:00, eighteen ahead.
    const gpsEpoch = unix('1980-01-06');
    assert.deepEqual(afterElapsedSeconds(gpsEpoch, 1_167_264_018), parseInstant('2017-01-01'));
    assert.deepEqual(afterElapsedSeconds(gpsEpoch, 1_167_264_017), parseInstant('2016-12-31T23:59:60'));
    assert.deepEqual(afterElapsedSeconds(gpsEpoch, 1_167_264_016), parseInstant('2016-12-31T23:59:59'));
    assert.deepEqual(afterElapsedSeconds(unix('2017-01-01'), 86_400), parseInstant('2017-01-02'));
  });

  it('are counted from epochs of half a year, and days from 1858', () => {
    assert.equal(vdifEpochUnixSeconds(0), unix('2000-01-01'));
    assert.equal(vdifEpochUnixSeconds(29), unix('2014-07-01'));
    assert.equal(unixFromMjd(51_544.5), unix('2000-01-01T12:00:00'));
  });
});
