import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hermitianAutos } from './hour.js';

describe('the sample of an hour', () => {
  it('has autocorrelations as stations have them: XX and YY real, YX the conjugate of XY', () => {
    const values = Float64Array.from({ length: 2 * 3 * 8 }, (_, k) => k + 1);
    hermitianAutos(values, 2);
    // Pairs (0, 0), (1, 0), (1, 1) of one channel and the next.
    assert.deepEqual([...values.subarray(0, 8)], [1, 0, 3, 4, 3, -4, 7, 0]);
    assert.deepEqual([...values.subarray(8, 16)], [9, 10, 11, 12, 13, 14, 15, 16]);
    assert.deepEqual([...values.subarray(40, 48)], [41, 0, 43, 44, 43, -44, 47, 0]);
  });
});
