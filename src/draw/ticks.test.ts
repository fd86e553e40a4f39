import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { numberText, roundStep, ticks, tickTexts } from './ticks.js';

describe('ticks', () => {
  const rounded = (values: readonly number[]): number[] =>
    values.map((value) => Number(value.toPrecision(9)));
  it('mark round numbers inside the range, ends included', () => {
    assert.deepEqual(ticks([0.4, 10.3], 6), [2, 4, 6, 8, 10]);
    assert.deepEqual(ticks([0.5, 51], 5), [20, 40]);
    assert.deepEqual(rounded(ticks([0, 1], 5)), [0, 0.2, 0.4, 0.6, 0.8, 1]);
    assert.deepEqual(rounded(ticks([-130, 4300], 5)), [0, 1000, 2000, 3000, 4000]);
    assert.deepEqual([0.11, 0.2, 3, 7].map(roundStep), [0.2, 0.2, 5, 10]);
  });
  it('are written with as many decimals as their step has', () => {
    assert.deepEqual(tickTexts([159.35, 159.4, 159.45]), ['159.35', '159.40', '159.45']);
    assert.deepEqual(tickTexts([-0.2, -5e-17, 0.2]), ['−0.2', '0.0', '0.2']);
    assert.deepEqual(tickTexts([0, 20_000, 40_000]), ['0', '20000', '40000']);
    assert.deepEqual(tickTexts([0, 2e6]), ['0', '2×10⁶']);
    assert.deepEqual(tickTexts([1.5]), ['1.5']);
  });
  it('are as short as people write numbers', () => {
    assert.equal(numberText(-4512.0000001), '−4512');
    assert.equal(numberText(1e7), '10⁷');
    assert.equal(numberText(1.25e-6), '1.25×10⁻⁶');
    assert.equal(numberText(-3.3217, 3), '−3.32');
  });
});
