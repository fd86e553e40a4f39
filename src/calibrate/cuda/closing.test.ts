import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { planCalibration } from '../plan.js';
import { prepareCudaSolver } from './prepare.js';

const plan = planCalibration({
  stations: 5,
  polarisations: 2,
  channels: 3,
  iterations: { kind: 'fixed', count: 9 },
});

it('solvers on a card close all they opened, also where they cannot be prepared', async () => {
  const chip = await assertClosesAll((backend) => prepareCudaSolver(plan, backend));
  const memory = await assertClosesAll((backend) => prepareCudaSolver(plan, backend, { hold: 'memory' }));
  assert.equal(chip, memory + 1);
});
