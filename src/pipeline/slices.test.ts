import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { voltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { cutStream, sliceBlock } from './slices.js';

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

async function* stream(blocks: readonly VoltageBlock[]): AsyncGenerator<VoltageBlock> {
  for (const block of blocks) yield await Promise.resolve(block);
}

describe('slices', () => {
  it('keeps samples, gaps and time of a part', () => {
    const part = sliceBlock(ramp(5), { first: 2, end: 4 }, 10);
    assert.deepEqual([...part.voltages], [2, 3, 12, 13]);
    assert.deepEqual(part.gaps, [{ firstInput: 0, endInput: 1, firstSample: 0, endSample: 1 }]);
    assert.deepEqual(part.start, instant(100, 0.2));
  });

  it('cuts after the first piece and then regularly, losing nothing', async () => {
    const seen: number[][] = [];
    const ends: boolean[] = [];
    for await (const { block, endsPiece } of cutStream(
      stream([ramp(5), ramp(5, 5)]),
      { firstPiece: 3, piece: 4 },
      10,
    )) {
      seen.push([...block.voltages.subarray(0, block.samples)]);
      ends.push(endsPiece);
    }
    assert.deepEqual(seen, [
      [0, 1, 2],
      [3, 4],
      [5, 6],
      [7, 8, 9],
    ]);
    assert.deepEqual(ends, [true, false, true, false]);
  });
});
