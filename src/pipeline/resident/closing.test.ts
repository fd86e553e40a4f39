import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { planCalibration } from '../../calibrate/index.js';
import { planChannelise } from '../../channelise/index.js';
import { randomStations, zenithAxes } from '../../image/cases.js';
import { planImage } from '../../image/index.js';
import { prepareResidentChain } from './chain.js';
import { planResident } from './plan.js';

const stationsM = randomStations(3, 5, 40);
const image = planImage({
  pixels: 64,
  field: { kind: 'all-sky' },
  stationsM,
  axes: zenithAxes,
  frequenciesHz: Float64Array.of(60e6, 59e6),
  polarisations: 2,
});
const calibration = {
  plan: planCalibration({
    ...{ stations: 5, polarisations: 2, channels: 2 },
    iterations: { kind: 'fixed', count: 9 },
  }),
  stationsM,
  everyImages: 1,
};
const channelise = planChannelise({
  ...{ channels: 2, taps: 4, inputs: 10, polarisations: 2, inputType: 'ci8', outputType: 'ci8' },
  blockSamples: 80,
});

it('a resident chain closes all it opened, also where it cannot be prepared', async () => {
  for (const [road, input] of [
    ['visibilities', { kind: 'voltages', plan: channelise }],
    ['direct', { kind: 'spectra', type: 'ci4', spectraPerBlock: 40 }],
  ] as const) {
    const plan = planResident({ road, input, image, calibration, blocksPerImage: 1, deliver: ['gains'] });
    assert.ok((await assertClosesAll((backend) => prepareResidentChain(plan, backend))) > 50);
  }
});
