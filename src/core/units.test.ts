import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatBytes, formatHz, formatSeconds } from './units.js';

describe('quantities for people', () => {
  it('seconds carry into minutes, and never reach sixty', () => {
    assert.deepEqual([0.000_04, 0.0123, 1, 59.4, 59.96, 119.7, 285.2].map(formatSeconds), [
      '40 µs',
      '12.3 ms',
      '1.0 s',
      '59.4 s',
      '1 min 0 s',
      '2 min 0 s',
      '4 min 45 s',
    ]);
  });

  it('frequencies below zero have a minus sign, and as many digits as are asked for', () => {
    assert.deepEqual(
      [formatHz(-9.8e6), formatHz(25e3), formatHz(356_687_125), formatHz(356_687_125, 9)],
      ['−9.8 MHz', '25 kHz', '356.687 MHz', '356.687125 MHz'],
    );
  });

  it('bytes by thousands', () => {
    assert.deepEqual([999, 4840, 2.5e9].map(formatBytes), ['999 B', '4.84 kB', '2.5 GB']);
  });
});
