import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { planCalibration } from '../../calibrate/index.js';
import { planChannelise } from '../../channelise/index.js';
import { randomStations, zenithAxes } from '../../image/cases.js';
import { planImage } from '../../image/index.js';
import { planKurtosis } from '../../kurtosis/index.js';
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

it('a chain that judges interference closes all it opened, its second block of spectra too', async () => {
  const kurtosis = planKurtosis({
    type: 'ci8',
    channels: 2,
    inputs: 10,
    polarisations: 2,
    takes: 'stations',
  });
  const options = {
    road: 'direct',
    input: { kind: 'voltages', plan: channelise },
    image,
    blocksPerImage: 1,
  } as const;
  assert.equal(planResident(options).spectraBlocks, 1);
  const plan = planResident({ ...options, kurtosis });
  assert.equal(plan.spectraBlocks, 2);
  // Blocks of 40 spectra are one window; three of them are kept.
  assert.equal(plan.powerBytes, 3 * 2 * (10 * 17 + 9));
  assert.ok((await assertClosesAll((backend) => prepareResidentChain(plan, backend))) > 50);
});
