import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError, realNumber, refuse, wholeNumber } from './errors.js';

const caught = (act: () => unknown): CorellaError => {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof CorellaError);
    return error;
  }
  return assert.fail('nothing was refused');
};

describe('refusals', () => {
  it('report where, what and how to put it right, in one line and one by one', () => {
    const error = caught(() => refuse('here', 'it is so', 'do this'));
    assert.equal(error.message, 'here: it is so; do this');
    assert.deepEqual(
      { name: error.name, where: error.where, what: error.what, fix: error.fix },
      { name: 'CorellaError', where: 'here', what: 'it is so', fix: 'do this' },
    );
  });

  it('leave out an unknown remedy', () => {
    const error = caught(() => refuse('here', 'it is so'));
    assert.equal(error.message, 'here: it is so');
    assert.equal(error.fix, undefined);
  });

  it('keep what caused them', () => {
    const cause = new Error('deeper');
    assert.equal(new CorellaError({ where: 'here', what: 'x' }, { cause }).cause, cause);
  });
});

describe('numbers within bounds', () => {
  it('are given back, the bounds themselves among them', () => {
    for (const value of [3, 5, 8]) {
      assert.equal(wholeNumber('x', 'n', value, 3, 8), value);
      assert.equal(realNumber('x', 'n', value, 3, 8), value);
    }
    assert.equal(realNumber('x', 'n', 3.5, 3, 8), 3.5);
  });

  it('are refused outside them, and whole ones between two', () => {
    for (const value of [2.999, 8.001, NaN, Infinity, -Infinity]) {
      assert.throws(
        () => realNumber('x', 'n', value, 3, 8),
        /^CorellaError: x: n is .*a number from 3 to 8$/,
      );
    }
    for (const value of [2, 9, 3.5, NaN, Infinity]) {
      assert.throws(() => wholeNumber('x', 'n', value, 3, 8), /x: n is .*; give a whole number from 3 to 8/);
    }
    // Above 2⁵³ a sum may lose its last bit, so no size there is exact.
    assert.throws(() => wholeNumber('x', 'n', 2 ** 53, 0, Infinity), /n is 9007199254740992/);
  });
});
