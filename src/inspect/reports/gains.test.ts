import assert from 'node:assert/strict';
import { it } from 'node:test';
import { instant } from '../../core/instant.js';
import { trioGains } from '../../formats/testing/gain-subjects.js';
import { firstWithGains, lookAtGains, timesOf } from '../gains.js';
import { gainJson, gainLines } from './gains.js';

it('gains of several times state how many, from when to when, and which are shown', () => {
  const none = { ...trioGains, time: instant(0), solved: new Uint8Array(12) };
  const file = {
    ...none,
    later: [
      { ...trioGains, time: instant(10) },
      { ...trioGains, time: instant(20) },
    ],
  };
  const shown = firstWithGains(file);
  const words = [shown, lookAtGains(shown), timesOf(file)] as const;
  const text = gainLines('gains.json', ...words).join('\n');
  assert.match(
    text,
    /times +3, from 1970-01-01T00:00:00\S* to 1970-01-01T00:00:20\S*, 1 of them without gains/,
  );
  assert.match(text, /time +1970-01-01T00:00:10\S*, of which all that follows is/);
  assert.deepEqual(gainJson('gains.json', ...words).times?.count, 3);
  // Nothing is printed for a single time.
  const one = [trioGains, lookAtGains(trioGains), timesOf(trioGains)] as const;
  assert.doesNotMatch(gainLines('gains.json', ...one).join('\n'), /times|follows/);
  assert.equal('times' in gainJson('gains.json', ...one), false);
});
