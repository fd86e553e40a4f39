import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatBytes, formatHz, formatSeconds, percent, twoDigits } from './units.js';

describe('quantities for people', () => {
  it('seconds carry into the next unit, and never reach sixty or a thousand', () => {
    for (const [seconds, text] of [
      [0.000_04, '40 µs'],
      [0.000_999_9, '1 ms'],
      [0.0123, '12.3 ms'],
      [0.9999, '1.0 s'],
      [59.4, '59.4 s'],
      [59.96, '1 min 0 s'],
      [119.7, '2 min 0 s'],
      [285.2, '4 min 45 s'],
      [3422, '57 min 2 s'],
      [3569.4, '59 min 29 s'],
      [3570, '1 h 0 min'],
      [35_668, '9 h 54 min'],
    ] as const)
      assert.equal(formatSeconds(seconds), text);
  });

  it('frequencies below zero have a minus sign, and as many digits as are asked for', () => {
    assert.equal(formatHz(-9.8e6), '−9.8 MHz');
    assert.equal(formatHz(999_999.99), '1 MHz');
    assert.equal(formatHz(356_687_125), '356.687 MHz');
    assert.equal(formatHz(356_687_125, 9), '356.687125 MHz');
  });

  it('bytes go by thousands', () => {
    assert.deepEqual([999, 4840, 999_900, 2.5e9].map(formatBytes), ['999 B', '4.84 kB', '1 MB', '2.5 GB']);
  });

  it('two digits never become powers of ten for numbers that people read', () => {
    assert.deepEqual([0.034, 4.84, 120.4, 1_234_000].map(twoDigits), ['0.034', '4.8', '120', '1200000']);
    assert.deepEqual([percent(0.1234), percent(0.0049), percent(0.1234, 1)], ['12 %', '0.49 %', '12.3 %']);
  });
});
