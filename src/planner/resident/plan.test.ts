/** What a resident chain will do, without a card: the order of its steps, its blocks, its memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planCalibration } from '../../calibrate/index.js';
import { planChannelise } from '../../channelise/index.js';
import { planImage } from '../../image/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { cutImage, residentBuffers, residentBytes } from '../memory.js';
import {
  closingStepsOf,
  planResident,
  solvesIn,
  stepsOf,
  type ResidentInput,
  type ResidentOptions,
} from './plan.js';
import { placeOutriggers } from '../workload-chain.js';
import { workloadOf } from '../workload.js';

const stationsM = [
  { x: 0, y: 0, z: 0 },
  { x: 9, y: 0, z: 0 },
  { x: 0, y: 9, z: 0 },
];
const image = planImage({
  pixels: 16,
  field: { kind: 'all-sky' },
  stationsM,
  axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
  frequenciesHz: Float64Array.of(30e6, 31e6),
  polarisations: 2,
});
const spectra: ResidentInput = { kind: 'spectra', type: 'ci4', spectraPerBlock: 100 };
const calibrationOf = (everyImages: number) => ({
  plan: planCalibration({ stations: 3, polarisations: 2, channels: 2 }),
  stationsM,
  everyImages,
});
const asked = (options: Partial<ResidentOptions> = {}) =>
  planResident({ road: 'visibilities', input: spectra, image, blocksPerImage: 1, ...options });

describe('the steps of a resident chain', () => {
  it('by visibilities: correlate every block, image when the last is in', () => {
    const plan = asked({ blocksPerImage: 3 });
    for (const block of [0, 1, 2, 3]) assert.deepEqual(stepsOf(plan, block), ['upload', 'correlate']);
    assert.deepEqual(closingStepsOf(plan, 0), ['image', 'download']);
    assert.equal(plan.calibration, undefined);
  });
  it('by visibilities: gains are solved from the image they are used for, every so many images', () => {
    const plan = asked({ calibration: calibrationOf(2) });
    assert.deepEqual(closingStepsOf(plan, 0), ['calibrate', 'image', 'download']);
    assert.deepEqual(closingStepsOf(plan, 1), ['image', 'download']);
    assert.deepEqual(closingStepsOf(plan, 2), ['calibrate', 'image', 'download']);
    assert.ok(solvesIn(plan, 4) && !solvesIn(plan, 5));
  });
  it('directly: gains come first, from the first block of the image', () => {
    const plan = asked({ road: 'direct', blocksPerImage: 2, calibration: calibrationOf(3) });
    const solving = ['upload', 'correlate', 'calibrate', 'direct image'];
    assert.deepEqual(stepsOf(plan, 0), solving);
    for (const block of [1, 2, 3, 4, 5]) assert.deepEqual(stepsOf(plan, block), ['upload', 'direct image']);
    assert.deepEqual(stepsOf(plan, 6), solving);
    assert.deepEqual(closingStepsOf(plan, 0), ['finish', 'download']);
  });
  it('directly, without gains, nothing is correlated at all', () => {
    const plan = asked({ road: 'direct' });
    assert.equal(plan.correlation, undefined);
    assert.deepEqual(stepsOf(plan, 0), ['upload', 'direct image']);
  });
  it('voltages are channelised first', () => {
    const channelise = planChannelise({
      ...{ channels: 2, taps: 4, inputs: 6, polarisations: 2, inputType: 'ci8', outputType: 'ci8' },
      blockSamples: 200,
    });
    const plan = asked({ input: { kind: 'voltages', plan: channelise } });
    assert.deepEqual(stepsOf(plan, 0), ['upload', 'channelise', 'correlate']);
    assert.deepEqual(plan.spectra, { type: 'ci8', channels: 2, inputs: 6, capacity: 100 });
  });
  it('an image of two channels, four products and 16² pixels is 8 KiB of float32', () => {
    assert.equal(asked().imageBytes, 2 * 4 * 256 * 4);
  });
  it('refuses parts that do not fit each other', () => {
    const other = planCalibration({ stations: 4, polarisations: 2, channels: 2 });
    assert.throws(
      () => asked({ calibration: { ...calibrationOf(1), plan: other } }),
      /4 stations .* image of 2, 3 and 2/,
    );
    assert.throws(() => asked({ flaggedInputs: new Uint8Array(5) }), /5 input flags for 6 inputs/);
    assert.throws(() => asked({ deliver: ['gains'] }), /none are solved/);
    assert.throws(
      () => asked({ road: 'direct', deliver: ['visibilities'] }),
      /take the road by visibilities/,
    );
    assert.throws(() => asked({ blocksPerImage: 0 }), /blocks in an image is 0/);
  });
});

describe('what a resident chain keeps', () => {
  const lwasv = async (options: { cadenceS?: number; input?: 'voltages' | 'spectra' } = {}) =>
    workloadOf({
      telescope: await loadTelescope('lwasv'),
      ...{ channels: 132, channelWidthHz: 25e3, taps: 8, pixels: 128, kernelSize: 5 as const },
      ...{ cadenceS: 0.04, calibrateEveryS: 10, field: { kind: 'all-sky' }, input: 'spectra' },
      ...options,
    });

  it('one block an image up to a quarter of a second, then as few as may be', async () => {
    assert.deepEqual(cutImage(await lwasv()), { spectraPerBlock: 1000, blocksPerImage: 1 });
    assert.deepEqual(cutImage(await lwasv({ cadenceS: 0.25 })), { spectraPerBlock: 6250, blocksPerImage: 1 });
    assert.deepEqual(cutImage(await lwasv({ cadenceS: 1 })), { spectraPerBlock: 6250, blocksPerImage: 4 });
  });
  it('counted by hand for LWA-SV', async () => {
    const sizes = Object.fromEntries(
      residentBuffers('visibilities', await lwasv(), 141e9).map(({ what, sizeBytes }) => [what, sizeBytes]),
    );
    // three blocks of 132 × 512 rows: 1000 samples of two bytes in 2048, and packed in 1008
    assert.equal(sizes.spectra, 3 * 132 * 512 * (2048 + 1008));
    // 256 · 257 / 2 pairs of four products, 24 bytes each, and a count of 8 for each pair
    assert.equal(sizes.visibilities, 132 * 32_896 * (4 * 24 + 8));
    assert.equal(sizes["pairs' kernels"], 132 * 32_896 * 81 * 16);
    assert.equal(sizes.images, 3 * 132 * 4 * 128 ** 2 * 4);
    assert.equal(sizes.voltages, undefined);
    const fromVoltages = residentBuffers('direct', await lwasv({ input: 'voltages' }), 141e9);
    const voltages = fromVoltages.find(({ what }) => what === 'voltages');
    // two buffers of 132 channels × (1000 + 8) spectra's worth of two-byte samples
    assert.equal(voltages?.sizeBytes, 2 * 512 * 132 * 1008 * 2);
  });
  it('a small card works the kernels of pairs out again', async () => {
    const workload = await lwasv();
    const kept = residentBytes('visibilities', workload, 141e9);
    assert.equal(kept - residentBytes('visibilities', workload, 8e9), 132 * 32_896 * 81 * 16);
  });
  it('outriggers are flagged and stand with the rest', async () => {
    const telescope = await loadTelescope('lwasv');
    const { placedM, flaggedInputs } = placeOutriggers(telescope, await lwasv());
    assert.equal(
      flaggedInputs.reduce((sum, flag) => sum + flag, 0),
      2,
    );
    const out = flaggedInputs.indexOf(1) / 2;
    assert.ok(Math.abs(telescope.stations[out].eastM) > 200);
    for (const { x, y } of placedM) assert.ok(Math.hypot(x, y) < 100);
  });
});
