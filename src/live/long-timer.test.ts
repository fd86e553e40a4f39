import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { afterSeconds } from './long-timer.js';

it('an observation of months does not end at once', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let ended = 0;
    const sixtyDaysS = 60 * 86_400;
    afterSeconds(sixtyDaysS, () => ended++);
    afterSeconds(sixtyDaysS, () => (ended += 100))();
    // Two timers of the longest possible duration, and the rest.
    const longestMs = 2 ** 31 - 1;
    for (const stepMs of [1, longestMs - 1, longestMs, 1000 * sixtyDaysS - 2 * longestMs - 1]) {
      mock.timers.tick(stepMs);
      assert.equal(ended, 0);
    }
    mock.timers.tick(1);
    assert.equal(ended, 1);
  } finally {
    mock.timers.reset();
  }
});
