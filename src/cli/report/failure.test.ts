import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError } from '../../core/errors.js';
import { failureText } from './failure.js';

const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
};

describe('what is told of an error', () => {
  it('is one line where it is meant for people', () => {
    const error = new CorellaError({ where: 'here', what: 'it is so', fix: 'do this' });
    assert.equal(failureText(error), 'corella: here: it is so; do this\n');
  });

  it('is the lack of memory where an array does not fit', () => {
    const tooLong = thrownBy(() => new Float64Array(2 ** 50));
    // What the platform says when the machine has no more to give, which a test had better not try.
    for (const error of [tooLong, new RangeError('Array buffer allocation failed')]) {
      assert.match(
        failureText(error),
        /^corella: not enough memory \(.*\); take fewer channels, stations or pixels/,
      );
    }
  });

  it('is everything where it is our own fault', () => {
    const text = failureText(thrownBy(() => new Float64Array(-1)));
    assert.match(
      text,
      /^corella: a fault of our own, .*:\nRangeError: Invalid typed array length: -1\n +at /,
    );
    assert.match(failureText('a word'), /a fault of our own.*:\na word\n$/s);
  });
});
