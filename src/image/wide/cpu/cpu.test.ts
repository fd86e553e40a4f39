import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { compiledLevels } from '../../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { randomStream } from '../../../core/random.js';
import { imageOf, noiseRows, stationsOn, wideCases } from '../cases.js';
import { boundsOf, planWide, prepareWideImager } from '../index.js';

const library = loadNative();

describe('wide images on cpu', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      wideCases(() => openCpu({ isa, threads: 2 }));

      it('one thread or five give the same bits', async () => {
        const layout = {
          stationsM: stationsOn('hilly', { stations: 60, radiusM: 300 }),
          zenithAngleDeg: 60,
          frequenciesHz: Float64Array.from({ length: 12 }, (_, c) => 150e6 + 1e5 * c),
        };
        const rows = noiseRows(layout, randomStream(5, 'threads'));
        const plan = planWide({ pixels: 256, pixelCosine: 1 / 512, bounds: boundsOf([rows]) });
        const images = [];
        const predictions = [];
        for (const threads of [1, 2, 5]) {
          const cpu = await openCpu({ isa, threads });
          const imager = await prepareWideImager(plan, cpu);
          const image = await imageOf(imager, rows);
          await imager.loadModel(image);
          predictions.push(await imager.predict(rows));
          images.push(image);
          await cpu.close();
        }
        for (const k of [1, 2]) {
          assert.deepEqual(images[k], images[0]);
          assert.deepEqual(predictions[k], predictions[0]);
        }
      });

      it('refuses a w that was not planned for, and rows that are no numbers', async () => {
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
        const cpu = await openCpu({ isa, threads: 1 });
        const imager = await prepareWideImager(plan, cpu);
        await assert.rejects(imager.accumulate(rows), /\|w\| = .* wavelengths, outside the .* planned for/);
        rows.uvwM[3] = Number.NaN;
        await assert.rejects(imager.accumulate(rows), /no number/);
        await cpu.close();
      });
    });
  }
});
