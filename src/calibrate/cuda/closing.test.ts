import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { planCalibration } from '../plan.js';
import { prepareCudaSolver } from './prepare.js';
import { prepareResidentCalibrator } from './resident.js';

const plan = planCalibration({
  stations: 5,
  polarisations: 2,
  channels: 3,
  iterations: { kind: 'fixed', count: 9 },
});
const stationsM = [0, 1, 2, 3, 4].map((n) => ({ x: 10 * n, y: n * n, z: 0 }));
const frequenciesHz = Float64Array.of(50e6, 51e6, 52e6);

it('solvers on a card close all they opened, also where they cannot be prepared', async () => {
  const chip = await assertClosesAll((backend) => prepareCudaSolver(plan, backend));
  const memory = await assertClosesAll((backend) => prepareCudaSolver(plan, backend, { hold: 'memory' }));
  assert.equal(chip, memory + 1);
  const resident = (channelsAtOnce: number) =>
    assertClosesAll((backend) =>
      prepareResidentCalibrator(plan, backend, { stationsM, frequenciesHz, channelsAtOnce }),
    );
  assert.ok((await resident(1)) > 20);
});
