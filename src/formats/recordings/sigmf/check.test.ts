import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SpectraElements, SpectraType } from '../../../core/axes.js';
import { takeNoSamples } from '../no-samples.js';
import { checkRange } from './open.js';

describe('samples of spectra', () => {
  const check = (elements: SpectraElements, type: SpectraType): void => {
    checkRange(elements, type, 'here', 40);
  };
  it('pass within their symmetric range', () => {
    check(Int8Array.of(-127, 127, 0), 'ci8');
    // 7 and −7, −1 and 0 in two's complement nibbles
    check(Uint8Array.of(0x79, 0xf0, 0x00), 'ci4');
    check(Float32Array.of(-128, 1e30), 'cf32');
  });
  it('are refused one step below it', () => {
    assert.throws(() => {
      check(Int8Array.of(0, 1, 2, -128), 'ci8');
    }, /here: holds −128 in the spectra from sample 40 on/);
    for (const byte of [0x80, 0x08, 0x87, 0x78]) {
      assert.throws(() => {
        check(Uint8Array.of(0, byte), 'ci4');
      }, /holds −8/);
    }
  });
  it('that are no numbers are missing: zeros, and a gap for each run', () => {
    // Two channels of two inputs, three complex samples each.
    const values = new Float32Array(24).fill(5);
    values[0 * 6 + 5] = NaN;
    values[1 * 6 + 0] = Infinity;
    values[1 * 6 + 3] = -Infinity;
    values[3 * 6 + 0] = 2e12;
    values[2 * 6 + 1] = -1e12;
    values[3 * 6 + 4] = NaN;
    const box = (channel: number, input: number, firstSample: number, endSample: number) => ({
      firstInput: input,
      endInput: input + 1,
      firstChannel: channel,
      endChannel: channel + 1,
      firstSample,
      endSample,
    });
    assert.deepEqual(takeNoSamples(values, { samples: 3, inputs: 2, partsPerSample: 2 }), [
      box(0, 0, 2, 3),
      box(0, 1, 0, 2),
      box(1, 1, 0, 1),
      box(1, 1, 2, 3),
    ]);
    assert.deepEqual(
      [...values].flatMap((value, n) => (value === 0 ? [n] : [])),
      [4, 5, 6, 7, 8, 9, 18, 19, 22, 23],
    );
  });
});
