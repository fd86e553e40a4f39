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
      const work = vanVleckWork(asked, bits);
      assert.match(work.lines().join(), words);
      assert.match(work.history.join(), words);
    }
    for (const bits of [4, undefined]) assert.deepEqual(vanVleckWork(asked, bits).lines(), []);
    assert.deepEqual(vanVleckWork({ values: 'means' }, 2).lines(), []);
  });
});
