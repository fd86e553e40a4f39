import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lender } from './lent.js';

describe('lent arrays', () => {
  const lenderOf = (owner: string) =>
    new Lender<{ readonly plane: Float64Array }>(owner, ({ plane }) => ({ plane: plane.slice() }));

  it('are valid until their owner fills them again', () => {
    const lender = lenderOf('an imager');
    const plane = Float64Array.of(1, 2);
    const first = lender.lend({ plane });
    const own = first.copy();
    assert.equal(first.values.plane, plane);
    lender.refill();
    plane.fill(7);
    assert.throws(() => first.values, /^Error: arrays of an imager are used after it filled them again/);
    assert.throws(() => first.copy(), /an imager/);
    assert.deepEqual(own.plane, Float64Array.of(1, 2));
    const second = lender.lend({ plane });
    assert.equal(second.values.plane[0], 7);
    assert.throws(() => first.values, /filled them again/);
  });

  it('end when the next are lent, and when the owner is closed', () => {
    const lender = lenderOf('a landing');
    const first = lender.lend({ plane: new Float64Array(1) });
    const second = lender.lend({ plane: new Float64Array(1) });
    assert.throws(() => first.values, /a landing/);
    assert.ok(second.values);
    lender.close();
    assert.throws(() => second.values, /^Error: arrays of a landing are used after it was closed/);
  });
});
