import assert from 'node:assert/strict';
import { it } from 'node:test';
import { median } from './median.js';

it('the middle of values is by size, the upper of two, and leaves them in order', () => {
  const values = [10, 9, -2, 100, 1];
  assert.equal(median(values), 9);
  assert.deepEqual(values, [10, 9, -2, 100, 1]);
  assert.equal(median([3, 1]), 3);
  assert.equal(median([NaN, 5, NaN, 7, 6]), 6);
  assert.equal(median([]), NaN);
});
