import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../../core/instant.js';
import { gather, storedProducts, type GatherShape, type StoredProduct } from './gather.js';

const products = [-5, -6, -7, -8].map((code) => storedProducts[code]) as StoredProduct[];
const [xx, yy, xy, yx] = products;
const when = { start: instant(0), durationS: 1 };
const centre = { raDeg: 10, decDeg: -20 };
const shape: GatherShape = {
  channels: 1,
  stations: 2,
  polarisations: 2,
  products,
  values: 'mean',
  stoppedAt: centre,
};

describe('gathering rows', () => {
  it('keeps every value unchanged, flagged ones too, and sums the good alone', () => {
    const rows = gather(shape);
    // The pair (0, 1) is our (1, 0) reversed: V₁₀[p₂][p₁] = conj(V₀₁[p₁][p₂]) and r₁ − r₀ = −(r₀ − r₁).
    rows.row(0, 1, { uvwM: [1, -2, 3] });
    rows.add(0, xx, 1, 2, 4);
    rows.add(0, yy, 3, 4, 8);
    rows.add(0, xy, 5, 6, 2);
    rows.add(0, yx, 7, 8, -16);
    const { passThrough, visibilities, counts, productCounts } = rows.finish(when);
    assert.ok(passThrough?.stopped);
    assert.deepEqual([...passThrough.means.subarray(8, 16)], [1, -2, 7, -8, 5, -6, 3, -4]);
    assert.deepEqual([...passThrough.weights.subarray(4, 8)], [4, -16, 2, 8]);
    assert.deepEqual(passThrough.stopped.phaseCentre, centre);
    assert.deepEqual([...passThrough.stopped.uvwM.subarray(3, 6)], [-1, 2, -3]);
    // One product is flagged though its inputs are not: it does not count, the others do.
    assert.equal(counts[1], 8);
    assert.deepEqual([...(productCounts ?? [])].slice(4, 8), [4, 0, 2, 8]);
    assert.deepEqual([...visibilities.subarray(8, 16)], [4, -8, 0, 0, 10, -12, 24, -32]);
  });

  it('marks what the file lacks: weight −0, uvw not a number', () => {
    const rows = gather(shape);
    rows.row(1, 0, { uvwM: [1, 2, Number.POSITIVE_INFINITY] });
    rows.add(0, xx, 1, 2, Number.NaN);
    const { passThrough } = rows.finish(when);
    assert.ok(passThrough);
    assert.ok(passThrough.weights.every((weight) => Object.is(weight, -0)));
    assert.ok(passThrough.stopped?.uvwM.every((value) => Number.isNaN(value)));
    assert.deepEqual([...passThrough.means.subarray(8, 10)], [1, 2]);
  });

  it('takes whole sums as they are, and divides them for means', () => {
    const rows = gather({ ...shape, values: 'sum', polarisations: 1, products: [xx] });
    rows.row(1, 0);
    rows.add(0, xx, 10, -30, 5);
    const { passThrough, visibilities, counts } = rows.finish(when);
    assert.deepEqual([...visibilities.subarray(2, 4), counts[1]], [10, -30, 5]);
    assert.deepEqual([...(passThrough?.means.subarray(2, 4) ?? [])], [2, -6]);
  });

  it('makes sums once, when asked, each over its own samples', () => {
    const rows = gather({ ...shape, values: 'mean' });
    rows.row(1, 0);
    rows.add(0, xx, 3, -4, 8);
    for (const product of [yy, xy, yx]) rows.add(0, product, 1, 1, 2);
    const one = rows.finish(when);
    assert.deepEqual([...one.visibilities.subarray(8, 12), one.counts[1]], [24, -32, 2, 2, 8]);
    assert.equal(one.visibilities, one.visibilities);
  });

  it('refuses a pair that comes twice', () => {
    const rows = gather({ ...shape, polarisations: 1, products: [xx] });
    rows.row(1, 0, { uvwM: [1, 2, 3] });
    rows.add(0, xx, 1, 0, 2);
    rows.row(0, 1, { uvwM: [-1, -2, -3] });
    assert.throws(() => {
      rows.add(0, xx, 4, -1, 3);
    }, /antennas 0 and 1 .* twice at one time/);
  });
});
