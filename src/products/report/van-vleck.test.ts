import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { liveVanVleck, vanVleckLines } from './van-vleck.js';

describe('van Vleck, reported', () => {
  it('reports that one and two bits of the recording itself stay as they are', () => {
    const all = { corrected: 5, left: 0 };
    for (const bits of [1, 2]) {
      const [{ code, data }] = vanVleckLines(all, bits);
      assert.deepEqual([code, data], ['van-vleck.recorder', { bits }]);
    }
    for (const bits of [4, undefined]) assert.deepEqual(vanVleckLines(all, bits), []);
  });

  it('counts what was corrected over all epochs of a stream', () => {
    const { lines, facts } = liveVanVleck(
      [
        { corrected: 5, left: 1 },
        { corrected: 2, left: 2 },
      ],
      8,
    );
    assert.deepEqual(facts, { vanVleck: { corrected: 7, left: 3 } });
    assert.deepEqual(
      lines.map(({ code, data }) => [code, data]),
      [['van-vleck.not-corrected', { products: 3, of: 10 }]],
    );
    assert.deepEqual(liveVanVleck([], 2), { lines: [], facts: {} });
  });
});
