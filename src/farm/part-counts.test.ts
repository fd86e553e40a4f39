import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PartCounts } from './merge.js';

/** Two stations of two polarisations: three pairs, four products each. */
const shape = { channels: 2, stations: 2, polarisations: 2, flaggedInputs: new Uint8Array(4) } as const;

describe('counts of an integration from its parts', () => {
  it('of pairs alone are added channel by channel', () => {
    const counts = new PartCounts(shape);
    counts.add('pairs', 0, Float64Array.of(1, 2, 3, 4, 5, 6));
    counts.add('pairs', 1, Float64Array.of(10, 20, 30));
    const made = counts.finish();
    assert.deepEqual([...made.counts], [1, 2, 3, 14, 25, 36]);
    assert.equal(made.productCounts, undefined);
  });

  it('of products as soon as one part has them: pairs count for each of their products', () => {
    const counts = new PartCounts(shape);
    counts.add('pairs', 0, Float64Array.of(1, 2, 3, 4, 5, 6));
    counts.add('products', 1, Float64Array.of(1, 0, 0, 0, 0, 0, 0, 7, 0, 0, 2, 0));
    const { productCounts, counts: pairs } = counts.finish();
    assert.deepEqual(
      [...(productCounts ?? [])],
      [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 5, 4, 4, 4, 5, 5, 5, 12, 6, 6, 8, 6],
    );
    assert.deepEqual([...pairs], [1, 2, 3, 5, 12, 8], 'the most that a product of the pair has');
  });
});
