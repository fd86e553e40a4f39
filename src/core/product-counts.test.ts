import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, countsCBPP } from './axes.js';
import { allProductCounts, productCount, settleCounts } from './product-counts.js';

const shape = { channels: 1, stations: 2, polarisations: 2 } as const;
/** Pairs 00, 10, 11; products XX, XY, YX, YY of each. */
const even = new Array<number>(12).fill(7);

describe('counts of products', () => {
  it('are those of their pairs where all are alike', () => {
    const settled = settleCounts(shape, Float64Array.from(even));
    assert.deepEqual([...settled.counts], [7, 7, 7]);
    assert.deepEqual([...settled.flaggedInputs], [0, 0, 0, 0]);
    assert.equal(settled.productCounts, undefined);
  });

  it('leave the partners of a product that is flagged', () => {
    const weights = Float64Array.from(even);
    weights[4] = -7; // XX of the pair
    const { counts, flaggedInputs, productCounts } = settleCounts(shape, weights);
    assert.deepEqual([...counts], [7, 7, 7]);
    assert.deepEqual([...flaggedInputs], [0, 0, 0, 0]);
    assert.deepEqual([...(productCounts ?? [])].slice(4, 8), [0, 7, 7, 7]);
    const one = { ...shape, counts, productCounts };
    assert.deepEqual(
      [productCount(one, 1, 0, 0), productCount(one, 1, 1, 1), productCount(one, 0, 0, 0)],
      [0, 7, 7],
    );
  });

  it('need none of their own where all of an input is flagged', () => {
    // Y of station 1: its products with station 0 are XY→[i=1: Y][j=0: X] = place 2 and YY = 3 of the pair; 9, 10, 11 of its own.
    const weights = Float64Array.from(even);
    for (const at of [6, 7, 9, 10, 11]) weights[at] = -7;
    const settled = settleCounts(shape, weights);
    assert.deepEqual([...settled.flaggedInputs], [0, 0, 0, 1]);
    assert.deepEqual([...settled.counts], [7, 7, 7]);
    assert.equal(settled.productCounts, undefined);
    assert.deepEqual([...allProductCounts({ ...shape, ...settled })], [7, 7, 7, 7, 7, 7, 0, 0, 7, 0, 0, 0]);
  });

  it('are given whole, flags applied', () => {
    const counts = countsCB(Float64Array.of(5, 5, 5), 1, 3);
    const productCounts = countsCBPP(Float64Array.of(5, 5, 5, 5, 1, 2, 3, 4, 5, 5, 5, 5), 1, 3, 2);
    const all = allProductCounts({
      ...shape,
      counts,
      productCounts,
      flaggedInputs: Uint8Array.of(0, 0, 1, 0),
    });
    assert.deepEqual([...all], [5, 5, 5, 5, 0, 0, 3, 4, 0, 0, 0, 5]);
  });
});
