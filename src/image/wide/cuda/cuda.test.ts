/** The shared cases on a card, skipped without one; `npm run check:cuda` compiles the kernels anywhere. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeCuda, openCuda } from '../../../backend/cuda/cuda.js';
import { randomStream } from '../../../core/random.js';
import { imageOf, noiseRows, stationsOn, wideCases, worstOverPeak } from '../cases.js';
import { boundsOf, planWide, prepareWideImager } from '../index.js';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { binGroups, planFft, planGrid } from './plan.js';

const presence = describeCuda();
const card = { sharedBytesPerBlock: 99 * 1024 };

describe(
  'wide images on a card',
  { skip: presence.present ? false : `${presence.reason}; ${presence.fix}` },
  () => {
    wideCases(() => openCuda());

    it('refuses a w that was not planned for', async () => {
      const layout = {
        stationsM: stationsOn('hilly', { stations: 5, radiusM: 30 }),
        zenithAngleDeg: 60,
        frequenciesHz: Float64Array.of(150e6),
      };
      const rows = noiseRows(layout, randomStream(6, 'far'));
      const { mostWLambda, ...bounds } = boundsOf([rows]);
      const plan = planWide({
        pixels: 32,
        pixelCosine: 1 / 16,
        bounds: { ...bounds, mostWLambda: 0.9 * mostWLambda },
      });
      const cuda = await openCuda();
      const imager = await prepareWideImager(plan, cuda);
      await assert.rejects(imager.accumulate(rows), /outside the .* planned for/);
      await cuda.close();
    });

    it(
      'a larger image, many tiles and planes, is that of cpu',
      { skip: 'what' in loadNative() ? 'no native library to compare with' : false },
      async () => {
        const layout = {
          stationsM: stationsOn('hilly', { stations: 128, radiusM: 1500 }),
          zenithAngleDeg: 50,
          frequenciesHz: Float64Array.from({ length: 16 }, (_, c) => 150e6 + 1e5 * c),
        };
        const rows = noiseRows(layout, randomStream(7, 'larger'));
        const plan = planWide({ pixels: 1200, pixelCosine: 4e-4, bounds: boundsOf([rows]) });
        const [cpu, cuda] = [await openCpu({}), await openCuda()];
        const [expected, made] = [await prepareWideImager(plan, cpu), await prepareWideImager(plan, cuda)];
        const image = await imageOf(expected, rows);
        assert.ok(worstOverPeak(await imageOf(made, rows), image) < 1e-5);
        await expected.loadModel(image);
        await made.loadModel(image);
        const [wanted, given] = [await expected.predict(rows), await made.predict(rows)];
        let most = 0;
        for (const value of wanted) most = Math.max(most, Math.abs(value));
        assert.ok(given.every((value, k) => Math.abs(value - wanted[k]) < 1e-5 * most));
        await cpu.close();
        await cuda.close();
      },
    );
  },
);

describe('plans for a card', () => {
  const plan = planWide({
    pixels: 1024,
    pixelCosine: 1e-3,
    bounds: { leastWLambda: 0, mostWLambda: 1000, visibilities: 1e6 },
    costs: 'cuda',
  });

  it('fit shared memory, and every plane of the ring has a place', () => {
    const grid = planGrid(plan, card);
    assert.ok(2 * grid.sharedBytes <= card.sharedBytesPerBlock);
    assert.ok(grid.slots * grid.slotGroups >= plan.w.support);
    const fft = planFft(plan, card);
    assert.equal(fft.sharedBytes, fft.lines * plan.gridCells * 8);
    assert.ok(fft.sharedBytes <= card.sharedBytesPerBlock && fft.threads <= 1024);
    assert.ok(binGroups(plan) >= 1);
  });

  it('refuse transforms that no block holds', () => {
    assert.throws(() => planFft({ ...plan, gridCells: 16_384 }, card), /this card's transforms hold/);
  });
});
