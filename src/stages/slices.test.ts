import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { voltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { BlockSlicer, sliceBlock } from './slices.js';

/** Two real inputs; input a's sample t holds 10·a + t + from. */
function ramp(samples: number, from = 0): VoltageBlock {
  const values = Int8Array.from(
    { length: 2 * samples },
    (_, k) => 10 * Math.floor(k / samples) + (k % samples) + from,
  );
  return {
    type: 'i8',
    inputs: 2,
    samples,
    voltages: voltagesAT(values, 'i8', 2, samples),
    gaps: [{ firstInput: 0, endInput: 1, firstSample: 1, endSample: 3 }],
    start: instant(100 + from / 10),
  };
}

describe('slices', () => {
  it('keeps samples, gaps and time of a part', () => {
    const part = sliceBlock(ramp(5), { first: 2, end: 4 }, 10);
    assert.deepEqual([...part.voltages], [2, 3, 12, 13]);
    assert.deepEqual(part.gaps, [{ firstInput: 0, endInput: 1, firstSample: 0, endSample: 1 }]);
    assert.deepEqual(part.start, instant(100, 0.2));
  });

  it('of one block after another use their memory again, whole blocks none', () => {
    const slicer = new BlockSlicer(10);
    const first = slicer.slice(ramp(5), 0, 3);
    assert.deepEqual([...first.voltages], [0, 1, 2, 10, 11, 12]);
    const second = slicer.slice(ramp(5, 5), 3, 5);
    assert.deepEqual([...second.voltages.subarray(0, 2)], [8, 9]);
    assert.equal(second.voltages.buffer, first.voltages.buffer);
    const whole = ramp(5);
    assert.equal(slicer.slice(whole, 0, 5), whole);
  });
});
