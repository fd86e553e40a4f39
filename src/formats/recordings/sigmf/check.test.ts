import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SpectraElements, SpectraType } from '../../../core/axes.js';
import { checkRange } from './check.js';

describe('samples of spectra', () => {
  const check = (elements: SpectraElements, type: SpectraType): void => {
    checkRange(elements, type, 'here', { samples: elements.length, firstSample: 40 });
  };
  it('pass within their symmetric range', () => {
    check(Int8Array.of(-127, 127, 0), 'ci8');
    // 7 and −7, −1 and 0 in two's complement nibbles
    check(Uint8Array.of(0x79, 0xf0, 0x00), 'ci4');
    check(Float32Array.of(-128, 1e30), 'cf32');
  });
  it('are refused one step below it, or where they are no number', () => {
    assert.throws(() => {
      check(Int8Array.of(0, 1, 2, -128), 'ci8');
    }, /here: holds −128 in the spectra from sample 40 on/);
    for (const byte of [0x80, 0x08, 0x87, 0x78]) {
      assert.throws(() => {
        check(Uint8Array.of(0, byte), 'ci4');
      }, /holds −8/);
    }
    assert.throws(() => {
      check(Float32Array.of(0, 0, 0, NaN), 'cf32');
    }, /holds NaN at sample 41/);
  });
});
