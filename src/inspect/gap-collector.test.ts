import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gapCollector } from './voltages.js';

const box = (inputs: readonly [number, number], samples: readonly [number, number], channels = [0, 1]) => ({
  firstInput: inputs[0],
  endInput: inputs[1],
  firstSample: samples[0],
  endSample: samples[1],
  firstChannel: channels[0],
  endChannel: channels[1],
});

describe('gaps of block after block', () => {
  it('are joined where they run on, through as many blocks as they do', () => {
    const gaps = gapCollector();
    gaps.add([box([0, 2], [7, 10]), box([3, 4], [0, 1])], 0, 10);
    gaps.add([box([0, 2], [0, 10])], 10, 10);
    gaps.add([box([0, 2], [0, 4]), box([0, 2], [6, 7])], 20, 10);
    assert.deepEqual(gaps.first(), [box([3, 4], [0, 1]), box([0, 2], [7, 24]), box([0, 2], [26, 27])]);
    assert.equal(gaps.boxes(), 3);
    assert.equal(gaps.samples(), 1 + 2 * (3 + 10 + 4 + 1));
  });

  it('of other inputs or channels are others, and every channel counts', () => {
    const gaps = gapCollector();
    gaps.add([box([0, 1], [5, 10], [0, 3])], 0, 10);
    gaps.add([box([1, 2], [0, 2], [0, 3]), box([0, 1], [0, 2], [0, 2])], 10, 10);
    assert.equal(gaps.boxes(), 3);
    assert.equal(gaps.samples(), 15 + 6 + 4);
  });

  it('are counted beyond the first eight, which alone are listed', () => {
    const gaps = gapCollector();
    for (let k = 0; k < 12; k++) gaps.add([box([0, 1], [3, 4])], 10 * k, 10);
    assert.deepEqual([gaps.boxes(), gaps.samples(), gaps.first().length], [12, 12, 8]);
    assert.deepEqual(gaps.first()[7], box([0, 1], [73, 74]));
  });
});
