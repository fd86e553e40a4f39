import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commonStep, tagSpan } from './times.js';

/** Above 2⁵³, where a double would lose the last ticks. */
const base = 2n ** 60n;
const tags = (...ticks: readonly number[]): bigint[] => ticks.map((tick) => base + BigInt(tick));

describe('time tags', () => {
  it('span from the first to the last, in whatever order frames came', () => {
    assert.deepEqual(tagSpan(tags(20, 0, 10, 50, 30), 100), { first: base, lastTicks: 50 });
    assert.deepEqual(tagSpan(tags(7), 100), { first: base + 7n, lastTicks: 0 });
    // The first to arrive is not the earliest: ticks count from the earliest all the same.
    assert.deepEqual(tagSpan(tags(40, 10, 60), 100), { first: base + 10n, lastTicks: 50 });
  });

  it('step by the distance that is most common', () => {
    // 10, 20, 30 and 50 in any order: two steps of ten and one of twenty
    assert.equal(commonStep(tags(30, 10, 50, 20)), 10);
    assert.equal(commonStep(tags(10, 10, 10)), 0);
    assert.equal(commonStep(tags(0, 3, 6, 16, 26, 36)), 10);
  });
});
