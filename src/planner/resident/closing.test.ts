import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll, openPaper } from '../../backend/cuda/testing.js';
import { planCalibration } from '../../calibrate/index.js';
import { planChannelise } from '../../channelise/index.js';
import { allocateSpectra, gainsCA } from '../../core/axes.js';
import { randomStations, zenithAxes } from '../../image/cases.js';
import { planImage } from '../../image/index.js';
import { planKurtosis } from '../../kurtosis/index.js';
import { prepareResidentChain, type ResidentImage } from './chain.js';
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

it('gains that are set while a block is judged come behind its image, and not in the middle of one', async () => {
  const kurtosis = planKurtosis({
    type: 'ci8',
    channels: 2,
    inputs: 10,
    polarisations: 2,
    takes: 'stations',
  });
  const input = { kind: 'spectra', type: 'ci8', spectraPerBlock: 20 } as const;
  const gains = gainsCA(new Float64Array(2 * 20).fill(1), 2, 10);
  const solved = new Uint8Array(20).fill(1);
  // Too short to be judged: a card of paper sums nothing.
  const block = { spectra: allocateSpectra('ci8', 2, 10, 20), samples: 20, gaps: [] };
  for (const blocksPerImage of [1, 2]) {
    const { backend } = await openPaper('hopper');
    const plan = planResident({ road: 'direct', input, image, blocksPerImage, kurtosis });
    const chain = await prepareResidentChain(plan, backend);
    const samples: number[] = [];
    const keep = (made: ResidentImage): Promise<void> => {
      samples.push(made.samples);
      return Promise.resolve();
    };
    for (let n = 0; n < 5; n++) {
      await chain.push(block, keep);
      const set = (): void => {
        chain.setGains(gains, solved);
      };
      if ((n + 1) % blocksPerImage === 0) set();
      else assert.throws(set, /new gains in the middle of an image/);
    }
    await chain.flush(keep);
    // The last image of two is cut short.
    assert.deepEqual(samples, blocksPerImage === 1 ? [20, 20, 20, 20, 20] : [40, 40, 20]);
    assert.equal(chain.kurtosis?.account().unjudged, 5 * 20);
    await chain.close();
    await backend.close();
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
  // Blocks of 40 spectra are one window: its two sums are kept for two blocks, and a word of powers beside each.
  assert.equal(plan.powerBytes, 2 * (2 * 10) * 16 + 2 * (2 * 10) * 8);
  assert.ok((await assertClosesAll((backend) => prepareResidentChain(plan, backend))) > 50);
});
