import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duration, frequency, plainNumber } from './quantity.js';

describe('quantities', () => {
  it('are converted to hertz, seconds and plain numbers', () => {
    const hz = frequency('--frequency');
    assert.deepEqual(
      ['74MHz', '25 khz', '1.5GHz', '12', '3e3Hz', '.5MHz'].map(hz),
      [74e6, 25e3, 1.5e9, 12, 3e3, 0.5e6],
    );
    const seconds = duration('--duration');
    assert.deepEqual(['40ms', '2 s', '3min', '1h', '0.25'].map(seconds), [0.04, 2, 180, 3600, 0.25]);
    assert.ok(Math.abs(seconds('7us') - 7e-6) < 1e-18 && Math.abs(seconds('7µs') - 7e-6) < 1e-18);
    assert.ok(Math.abs(seconds('5ns') - 5e-9) < 1e-18);
    assert.deepEqual(['-2.5', '+1e-3'].map(plainNumber('--odd')), [-2.5, 0.001]);
  });

  it('are refused with the option when they are none', () => {
    assert.throws(() => frequency('--rate')('74 m'), /--rate: '74 m' is not understood; write it like 74MHz/);
    assert.throws(() => frequency('--rate')('40ms'), /is not understood/);
    assert.throws(() => plainNumber('--odd')('2 s'), /--odd: '2 s' is not understood; give a plain number/);
    for (const text of ['', 'x', '1,5', '1e', '0x10', 'Infinity', 'toString']) {
      assert.throws(() => plainNumber('--odd')(text), /is not understood/, text);
    }
    for (const text of ['0', '-1s', '0ms']) {
      assert.throws(() => duration('--duration')(text), /--duration: '.*' is no length of time/, text);
    }
  });
});
