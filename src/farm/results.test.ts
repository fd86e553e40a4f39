import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Ledger } from './ledger.js';
import { Results } from './merge.js';

it('what a job lost is counted once, however many products read its result', async () => {
  const range = { firstSpectrum: 0, endSpectrum: 8, firstChannel: 0, endChannel: 4 };
  const head = { account: { missingSamples: 1472, saturated: 3 }, backend: 'cpu' };
  const results = new Results({ read: () => Promise.resolve({ head }) } as unknown as Ledger);
  for (const product of ['visibilities', 'images']) {
    assert.ok(await results.of(range), product);
    results.letGo([range]);
  }
  assert.deepEqual(results.collected(), { missingSamples: 1472, saturated: 3, backends: ['cpu'] });
});
