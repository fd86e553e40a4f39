import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../../backend/cuda/testing.js';
import { randomStations, zenithAxes } from '../../cases.js';
import { prepareImageScaler } from '../../cuda/scale.js';
import { planImage } from '../../plan.js';
import { prepareCudaVisibilityImager } from '../../flat/cuda/prepare.js';
import { prepareCudaDirectImager } from './prepare.js';

const plan = planImage({
  pixels: 64,
  field: { kind: 'all-sky' },
  stationsM: randomStations(3, 7, 40),
  axes: zenithAxes,
  frequenciesHz: Float64Array.of(60e6, 59e6),
  polarisations: 2,
});

it('direct imagers on a card close all they opened, also where they cannot be prepared', async () => {
  for (const [path, samples, kernels] of [
    ['hopper', 400, /^half precision/],
    ['hopper', 25, /^single precision on the tensor cores/],
    ['dp4a', 400, /^single precision without/],
  ] as const) {
    const places = await assertClosesAll(async (backend) => {
      const imager = await prepareCudaDirectImager(plan, backend);
      const blocks = { type: 'ci8', capacity: samples } as const;
      assert.match(imager.describe(blocks), kernels);
      try {
        await imager.prepare(blocks);
      } catch (error) {
        // It belongs to the caller now.
        await imager.close();
        throw error;
      }
      return imager;
    }, path);
    assert.ok(places > 10);
  }
});

it('so do imagers of visibilities, and what scales images', async () => {
  assert.ok((await assertClosesAll((backend) => prepareCudaVisibilityImager(plan, backend))) > 10);
  await assertClosesAll((backend) => prepareImageScaler(plan, backend));
});
