/**
 * Channels with different numbers of samples, averaged: equal to a plain Fourier sum over all samples, on every
 * backend.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { describeCuda, openCuda } from '../backend/cuda/cuda.js';
import { openReference } from '../backend/reference.js';
import {
  baselineCount,
  baselineIndex,
  countsCB,
  countsCBPP,
  visibilitiesCBPP,
  weightsCP,
} from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { randomStations, zenithAxes } from './cases.js';
import {
  averageChannels,
  imageVisibilities,
  pixelCosine,
  planImage,
  prepareVisibilityImager,
  stokesI,
} from './index.js';
import { exactBrightness } from './direct/exact.testing.js';

const STATIONS = 12;
const stationsM = randomStations(4, STATIONS, 40, 0);
const frequenciesHz = Float64Array.of(58e6, 60e6);
const plan = planImage({
  pixels: 64,
  field: { kind: 'all-sky' },
  stationsM,
  axes: zenithAxes,
  frequenciesHz,
  polarisations: 2,
  kernel: { kind: 'fitted', size: 7 },
});

/** Noise of a hundred samples in one channel and ten thousand in the other. */
function unequal(): Integration {
  const random = randomStream(3, 'unequal');
  const baselines = baselineCount(STATIONS);
  const counts = countsCB(
    Float64Array.from({ length: 2 * baselines }, (_, k) => (k < baselines ? 100 : 10_000)),
    2,
    baselines,
  );
  const sums = Float64Array.from(
    { length: 2 * 2 * baselines * 4 },
    (_, k) => Math.sqrt(counts[Math.floor(k / 8)]) * random.gaussian(),
  );
  return {
    start: instant(0),
    durationS: 1,
    channels: 2,
    stations: STATIONS,
    polarisations: 2,
    counts,
    visibilities: visibilitiesCBPP(sums, 2, baselines, 2),
    flaggedInputs: new Uint8Array(2 * STATIONS),
  };
}

/** Both polarisations, by the definition: all channels' sums over all channels' samples. */
function fourierSum(integration: Integration, l: number, m: number): number {
  const direction = { x: l, y: m, z: Math.sqrt(1 - l * l - m * m) };
  let [sum, samples] = [0, 0];
  for (const [channel, frequencyHz] of frequenciesHz.entries()) {
    const count = integration.counts[channel * baselineCount(STATIONS) + baselineIndex(1, 0)];
    for (const product of [0, 1] as const) {
      const options = { stationsM, frequencyHz, channel, product, autos: 'leave-out' } as const;
      sum += (count * exactBrightness(integration, direction, options)) / 2;
    }
    samples += count;
  }
  return sum / samples;
}

const library = loadNative();
const card = describeCuda();
const backends: readonly (readonly [string, () => Promise<Backend>, string | false])[] = [
  ['reference', () => Promise.resolve(openReference()), false],
  ['cpu', () => openCpu({ threads: 2 }), 'what' in library ? library.what : false],
  ['cuda', () => openCuda(), card.present ? false : `${card.reason}; ${card.fix}`],
];

describe('channels of unequal samples', () => {
  for (const [name, open, skip] of backends) {
    it(`are averaged by them: ${name}`, { skip }, async () => {
      const backend = await open();
      const imager = await prepareVisibilityImager(plan, backend);
      const integration = unequal();
      const { image, weights } = await imager.image([integration]);
      const plane = stokesI(averageChannels(image, plan, weights), plan, 0);
      let [worst, peak, alike] = [0, 0, 0];
      const evenly = stokesI(averageChannels(image, plan), plan, 0);
      for (let at = 5; at < plane.length; at += 37) {
        if (Number.isNaN(plane[at])) continue;
        const wanted = fourierSum(
          integration,
          pixelCosine(plan, at % 64),
          pixelCosine(plan, Math.floor(at / 64)),
        );
        peak = Math.max(peak, Math.abs(wanted));
        worst = Math.max(worst, Math.abs(plane[at] - wanted));
        alike = Math.max(alike, Math.abs(evenly[at] - wanted));
      }
      // 7 × 7 kernels are good to 1e-4; giving a hundred samples the weight of ten thousand is wrong by more than the
      // peak.
      assert.ok(worst < 5e-4 * peak, `${worst / peak} of the peak`);
      assert.ok(alike > peak, `${alike / peak}`);
      await imager.close();
      await backend.close();
    });
  }

  for (const [name, open, skip] of backends) {
    it(`products of a pair weigh as they were counted: ${name}`, { skip }, async () => {
      // YY of half of the pairs is flagged: XX is unchanged, YY is the sum over the others.
      const whole = unequal();
      const weights = Float64Array.from({ length: whole.counts.length * 4 }, (_, at) => {
        const cell = Math.floor(at / 4);
        return at % 4 === 3 && cell % 2 === 0 ? 0 : whole.counts[cell];
      });
      const sums = whole.visibilities.map((value, k) => (weights[Math.floor(k / 2)] > 0 ? value : 0));
      const baselines = baselineCount(STATIONS);
      const some: Integration = {
        ...whole,
        visibilities: visibilitiesCBPP(sums, 2, baselines, 2),
        productCounts: countsCBPP(weights, 2, baselines, 2),
      };
      const backend = await open();
      const imager = await prepareVisibilityImager(plan, backend);
      const { image } = await imager.image([whole]);
      const { image: found, weights: planes } = await imager.image([some]);
      const size = 64 * 64;
      assert.deepEqual(found.slice(0, size), image.slice(0, size), 'XX of channel 0');
      let worst = 0;
      for (let at = 5; at < size; at += 37) {
        if (Number.isNaN(found[size + at])) continue;
        const [l, m] = [pixelCosine(plan, at % 64), pixelCosine(plan, Math.floor(at / 64))];
        const wanted = exactBrightness(
          some,
          { x: l, y: m, z: Math.sqrt(1 - l * l - m * m) },
          {
            stationsM,
            frequencyHz: frequenciesHz[0],
            channel: 0,
            product: 1,
            autos: 'leave-out',
          },
        );
        worst = Math.max(worst, Math.abs(found[size + at] - wanted));
      }
      // Means of a hundred samples of noise, over 33 pairs.
      assert.ok(worst < 1e-4, `${worst}`);
      assert.ok(planes[1] < planes[0]);
      // Two equal integrations give the same image.
      const { image: twice } = await imager.image([some, some]);
      for (let at = 0; at < size; at++)
        assert.ok(Number.isNaN(found[at]) || Math.abs(twice[size + at] - found[size + at]) < 1e-9);
      await imager.close();
      await backend.close();
    });
  }

  it('weights are samples of pairs, each way round; another number of them is refused', () => {
    const { weights, image } = imageVisibilities(plan, [unequal()]);
    const pairs = STATIONS * (STATIONS - 1);
    assert.deepEqual([...weights.slice(0, 5)], [...Array<number>(4).fill(100 * pairs), 10_000 * pairs]);
    assert.throws(
      () => averageChannels(image, plan, weightsCP(new Float64Array(4), 1, 4)),
      /holds 4 elements/,
    );
  });
});
