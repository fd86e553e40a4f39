import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vanVleckWork } from './van-vleck-lines.js';

describe('van Vleck, told', () => {
  it('says that one and two bits of the recording itself stay as they are', () => {
    const asked = { vanVleck: true, values: 'means' } as const;
    for (const [bits, words] of [
      [1, /own rounding to one bit, .* by 36 %, is not corrected/],
      [2, /own rounding to two bits, .* by 12 %, is not corrected/],
    ] as const) {
      const work = vanVleckWork(asked);
      const [{ code, data }] = work.lines(bits);
      assert.deepEqual([code, data], ['van-vleck.recorder', { bits }]);
      assert.match(work.history(bits).join(), words);
    }
    for (const bits of [4, undefined]) assert.deepEqual(vanVleckWork(asked).lines(bits), []);
    assert.deepEqual(vanVleckWork({ values: 'means' }).lines(2), []);
  });

  it('counts what was corrected over all epochs of a stream', () => {
    const work = vanVleckWork({ vanVleck: true, values: 'means' });
    work.asked.vanVleck?.onPlan?.({ corrected: 5, left: 1 });
    work.asked.vanVleck?.onPlan?.({ corrected: 2, left: 2 });
    assert.deepEqual(work.facts(), { vanVleck: { corrected: 7, left: 3 } });
    const [{ code, data }] = work.lines(8);
    assert.deepEqual([code, data], ['van-vleck.not-corrected', { products: 3, of: 10 }]);
  });
});
