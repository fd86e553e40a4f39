import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { planCorrelation } from '../plan.js';
import { prepareCudaCorrelator } from './prepare.js';

it('a correlator on a card closes all it opened, also where it cannot be prepared', async () => {
  for (const [type, path, places] of [
    ['ci8', 'hopper', 5], // totals, sums, a counter for each of two engines, flags and the event of their upload
    ['ci8', 'dp4a', 3],
    ['cf32', 'dp4a', 2],
  ] as const) {
    const plan = planCorrelation({ stations: 3, polarisations: 2, channels: 2, type });
    assert.equal(await assertClosesAll((backend) => prepareCudaCorrelator(plan, backend), path), places + 1);
  }
});
