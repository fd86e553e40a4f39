import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { earlyMessage, railLines } from './losses.js';

describe('what was lost', () => {
  it('on the rails is a number, and a part of all where it is much', () => {
    assert.deepEqual(railLines(0, 100), []);
    const [few] = railLines(1, 1000);
    assert.deepEqual([few.code, few.data], ['data.saturated', { numbers: 1, part: 0.001 }]);
    const [many] = railLines(955, 1000);
    assert.deepEqual([many.code, many.data], ['data.saturated-much', { numbers: 955, part: 0.955 }]);
    assert.match(many.text, /955 numbers .* 96 % of all: give a lower front\.gain/);
  });

  it('at the end of a file is reported in samples, seconds and bytes', () => {
    const early = { said: 'FILE_SIZE', promisedBytes: 3000, heldBytes: 2000, missingSamples: 1 };
    assert.match(
      earlyMessage(early, 1000).text,
      /1 sample of each input \(1 ms\) before its header's FILE_SIZE: it has 2 kB of 3 kB/,
    );
  });
});
