import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../../core/instant.js';
import { gather, noFaults, storedProducts, type StoredProduct } from './gather.js';

const products = [-5, -7, -8, -6].flatMap((code) => storedProducts[code] ?? []) satisfies StoredProduct[];
/** [channel][product] of one row: flagged, missing, not a number, infinite, and ordinary values. */
const values = Float64Array.of(1, -2, 3, 0, Number.NaN, 1, -4, 5, 6, -0, 7, 8, 9, 10, 11, 12);
const weights = Float64Array.of(2, -3, 4, -0, Infinity, 5, -Infinity, 6);

void describe('a row of a file of visibilities', () => {
  for (const stored of ['mean', 'sum'] as const)
    for (const [s1, s2] of [
      [1, 0],
      [0, 1],
      [1, 1],
    ])
      void it(`is the same value by value and at once: ${stored}s, antennas ${s1} and ${s2}`, () => {
        const gathered = (['add', 'fill'] as const).map((how) => {
          const faults = noFaults();
          const shape = { channels: 2, stations: 2, polarisations: 2 as const, products, faults };
          const gathering = gather({ ...shape, values: stored });
          gathering.row(s1, s2);
          if (how === 'fill') gathering.fill(values, weights);
          else
            for (let k = 0; k < 8; k++)
              gathering.add(k >> 2, products[k % 4], values[2 * k], values[2 * k + 1], weights[k]);
          assert.throws(() => {
            gathering.fill(values, weights);
          }, /is there twice/);
          const { visibilities, ...others } = gathering.finish({ start: instant(0), durationS: 1 });
          return { faults, visibilities, ...others };
        });
        assert.deepEqual(gathered[1], gathered[0]);
        assert.equal(gathered[0].faults.notNumbers, 2);
      });
});
