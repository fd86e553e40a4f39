import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { earlyLine, railLines } from './loss-lines.js';

describe('what was lost', () => {
  it('on the rails is a number, and a part of all where it is much', () => {
    assert.deepEqual(railLines(0, 100), []);
    assert.deepEqual(railLines(1, 1000), ['1 number hit the rails on requantising']);
    assert.deepEqual(railLines(955, 1000), [
      '955 numbers hit the rails on requantising, 96 % of all: give a lower front.gain, or front.bits: float',
    ]);
  });

  it('at the end of a file is told in samples, seconds and bytes', () => {
    const early = { said: 'FILE_SIZE', promisedBytes: 3000, heldBytes: 2000, missingSamples: 1 };
    assert.match(
      earlyLine(early, 1000),
      /^1 sample of each input \(1 ms\) before its header's FILE_SIZE: 2 kB of 3 kB/,
    );
  });
});
