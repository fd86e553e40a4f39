import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { compiledLevels } from '../../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { baselineCount, countsCB, visibilitiesCBPP } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { instant } from '../../../core/instant.js';
import { randomStream } from '../../../core/random.js';
import { assertSameImage, randomGains, randomStations, zenithAxes } from '../../cases.js';
import { imageVisibilities, planImage, prepareVisibilityImager } from '../../index.js';
import type { ImageOptions, ImagePlan, VisibilityImageOptions } from '../../index.js';

const library = loadNative();

const makePlan = (stations: number, options: Partial<ImageOptions> = {}): ImagePlan =>
  planImage({
    pixels: 48,
    field: { kind: 'all-sky' },
    stationsM: randomStations(3, stations, 30),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6, 63e6, 66e6),
    polarisations: 2,
    ...options,
  });

/** Unrealistic data: every number is independent. */
function randomIntegration(seed: number, { channels, stations, polarisations }: ImagePlan): Integration {
  const random = randomStream(seed, 'integration', stations);
  const baselines = baselineCount(stations);
  const sums = Float64Array.from({ length: 2 * channels * baselines * polarisations ** 2 }, () =>
    random.gaussian(),
  );
  return {
    start: instant(0),
    durationS: 1,
    channels,
    stations,
    polarisations,
    visibilities: visibilitiesCBPP(sums, channels, baselines, polarisations),
    // every seventh or so is missing
    counts: countsCB(
      Float64Array.from({ length: channels * baselines }, () => Math.max(0, random.below(7) - 1)),
      channels,
      baselines,
    ),
    flaggedInputs: Uint8Array.from({ length: stations * polarisations }, (_, a) => (a % 11 === seed ? 1 : 0)),
  };
}

describe('cpu visibility imager', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      const agrees = async (
        plan: ImagePlan,
        integrations: readonly Integration[],
        options: VisibilityImageOptions,
        threads = 2,
      ): Promise<void> => {
        const cpu = await openCpu({ isa, threads });
        const imager = await prepareVisibilityImager(plan, cpu);
        // other data first: the second image must not contain them
        await imager.image([randomIntegration(9, plan)], { autos: 'include' });
        const found = await imager.image(integrations, options);
        const wanted = imageVisibilities(plan, integrations, options);
        assertSameImage(found.image, wanted.image, plan.pixels, 1e-11);
        assert.ok(found.beam && wanted.beam);
        assertSameImage(found.beam, wanted.beam, plan.pixels, 1e-11);
        const alone = await imager.image(integrations, { ...options, beam: 'leave-out' });
        assert.deepEqual(alone, { image: found.image, weights: found.weights }, 'without its beam');
        for (const [k, weight] of wanted.weights.entries())
          assert.ok(Math.abs(found.weights[k] - weight) <= 1e-12 * weight, `weight ${k}`);
        await imager.close();
        await cpu.close();
      };

      for (const weight of ['natural', 'uniform'] as const) {
        for (const autos of ['include', 'leave-out'] as const) {
          it(`${weight} weight, autos: ${autos}`, () => {
            const plan = makePlan(9);
            return agrees(plan, [randomIntegration(1, plan)], { weight, autos });
          });
        }
      }
      for (const size of [1, 3, 5, 7] as const) {
        for (const polarisations of [1, 2] as const) {
          it(`${size} × ${size} kernels, ${polarisations} polarisation(s)`, () => {
            const plan = makePlan(6, { polarisations, kernel: { kind: 'fitted', size } });
            return agrees(plan, [randomIntegration(2, plan)], { weight: 'uniform' });
          });
        }
      }
      it('several integrations with flags of their own', () => {
        const plan = makePlan(7);
        const integrations = [1, 2, 3].map((seed) => randomIntegration(seed, plan));
        return agrees(plan, integrations, { weight: 'uniform', autos: 'include' });
      });
      it('gains, with inputs that have none', () => {
        const plan = makePlan(5);
        const gains = randomGains(4, 3, 10);
        const solved = new Uint8Array(30).fill(1);
        for (const at of [3, 12, 25]) {
          solved[at] = 0;
          gains[2 * at] = NaN;
        }
        return agrees(plan, [randomIntegration(1, plan)], { gains, solved });
      });
      // 18 = 2·9, 22 = 2·11: sides that are no multiple of a vector
      for (const pixels of [18, 22, 64]) {
        it(`${pixels} pixels, one channel, one station or more`, async () => {
          for (const stations of [1, 2, 5]) {
            const plan = makePlan(stations, {
              pixels,
              frequenciesHz: Float64Array.of(60e6),
              stationsM: randomStations(8, stations, 8),
            });
            await agrees(plan, [randomIntegration(1, plan)], { autos: 'include' }, 1);
          }
        });
      }
      it('one channel shared by three threads', () => {
        const plan = makePlan(160, {
          frequenciesHz: Float64Array.of(60e6),
          kernel: { kind: 'fitted', size: 3 },
        });
        return agrees(plan, [randomIntegration(1, plan)], { weight: 'uniform' }, 3);
      });
    });
  }

  it('refuses what the reference refuses', async () => {
    const cpu = await openCpu({ threads: 1 });
    const imager = await prepareVisibilityImager(makePlan(3), cpu);
    await assert.rejects(imager.image([]), /no integrations/);
    await assert.rejects(imager.image([randomIntegration(1, makePlan(4))]), /for a plan of 3, 3 and 2/);
    await cpu.close();
  });
});
