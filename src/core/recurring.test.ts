import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recurring } from './recurring.js';

describe('recurring values', () => {
  it('come in rising order, without those that damage invented', () => {
    const often = (value: number, times: number): number[] => new Array<number>(times).fill(value);
    assert.deepEqual(recurring([...often(30, 16), ...often(4, 9), ...often(17, 2), 99]), [4, 17, 30]);
    assert.deepEqual(recurring([5]), [5]);
  });
});
