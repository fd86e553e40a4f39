import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { messagesIn } from '../../messages/index.js';
import { choiceLines } from './integrations.js';

const integration = {
  start: instant(0),
  durationS: 8.6,
  channels: 1,
  stations: 1,
  polarisations: 1 as const,
  visibilities: visibilitiesCBPP(new Float64Array(2), 1, 1, 1),
  counts: countsCB(new Float64Array(1), 1, 1),
  flaggedInputs: new Uint8Array(1),
};

it('a sum that leaves integrations out reports it, and one that takes all states nothing', () => {
  assert.deepEqual(choiceLines({ integration, first: 0, used: 8, inFile: 8 }, 'sum'), []);
  const said = (first: number, used: number) =>
    messagesIn(choiceLines({ integration, first, used, inFile: 8 }, 'sum'))[0];
  assert.equal(said(0, 3).code, 'integrations.not-all-used');
  const other = 'source.integration selects others';
  assert.deepEqual(said(0, 3).data, { first: 0, used: 3, inFile: 8, durationS: 8.6, other });
  assert.match(said(0, 3).text, /^the first 3 of 8 .*rotates/);
  assert.match(said(0, 1).text, /^the first of 8 /);
  assert.equal(said(2, 6).text, 'the first 2 of 8 integrations have no data');
  assert.match(said(1, 3).text, /^the first of 8 integrations has no data; the next 3 of 8 .*rotates/);
  assert.deepEqual(choiceLines({ integration, first: 5, used: 1, inFile: 8 }, 5), [
    'integration 5 of 0 to 7, 8.6 s',
  ]);
});
