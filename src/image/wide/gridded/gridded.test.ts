import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../../backend/reference.js';
import { planeML, uvwR, visibilitiesRC, weightsRC } from '../../../core/axes.js';
import { randomStream } from '../../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { imageOf, noiseRows, sourceRows, stationsOn, wideCases } from '../cases.js';
import type { WideImager } from '../imager.js';
import { boundsOf, planWide, prepareWideImager, type WidePlan, type WideRows } from '../index.js';
import { prepareGriddedImager } from './imager.js';

/** Planes, sums and buffers are filled by another image and another model first. */
async function poisoned(plan: WidePlan): Promise<WideImager> {
  const imager = prepareGriddedImager(plan);
  const { pixels, bounds } = plan;
  const random = randomStream(9, 'poison', pixels);
  const rows = 40;
  const scale = 1 / (3 * pixels * plan.pixelCosine);
  const uvw = Float64Array.from({ length: 3 * rows }, (_, k) =>
    k % 3 === 2
      ? bounds.leastWLambda + (bounds.mostWLambda - bounds.leastWLambda) * random.uniform()
      : pixels * scale * random.gaussian(),
  );
  const garbage: WideRows = {
    uvwM: uvwR(uvw, rows),
    frequenciesHz: Float64Array.of(SPEED_OF_LIGHT_M_PER_S),
    visibilities: visibilitiesRC(
      Float64Array.from({ length: 2 * rows }, () => 1e9 * random.gaussian()),
      rows,
      1,
    ),
    weights: weightsRC(new Float32Array(rows).fill(1e6), rows, 1),
  };
  const image = await imageOf(imager, garbage);
  await imager.loadModel(planeML(image, pixels));
  await imager.predict(garbage);
  return imager;
}

const layout = {
  stationsM: stationsOn('hilly', { stations: 12, radiusM: 40 }),
  zenithAngleDeg: 60,
  frequenciesHz: Float64Array.of(150e6, 152e6),
};

describe('wide images gridded in TypeScript', () => {
  wideCases(() => Promise.resolve(openReference()), poisoned);

  it('a source in the north-east comes out there, and not in the other three quarters', async () => {
    const noise = noiseRows(layout, randomStream(3, 'places'));
    const [pixels, pixelCosine] = [64, 1 / 80];
    const plan = planWide({ pixels, pixelCosine, bounds: boundsOf([noise]) });
    const rows = sourceRows(noise, [{ l: 12 * pixelCosine, m: 20 * pixelCosine, fluxJy: 3 }]);
    const image = await imageOf(prepareGriddedImager(plan), rows);
    // [m][l] from the south-west corner, the centre at (32, 32)
    const at = image.indexOf(Math.max(...image.filter((value) => !Number.isNaN(value))));
    assert.deepEqual([at % pixels, Math.floor(at / pixels)], [44, 52]);
    assert.ok(Math.abs(image[at] - 3) < 3e-4);
  });

  it('refuses a w that was not planned for, rows that are no numbers, and what no model was loaded for', async () => {
    const rows = noiseRows(layout, randomStream(6, 'far'));
    const { mostWLambda, ...bounds } = boundsOf([rows]);
    const plan = planWide({
      pixels: 32,
      pixelCosine: 1 / 16,
      bounds: { ...bounds, mostWLambda: 0.9 * mostWLambda },
    });
    const imager = prepareGriddedImager(plan);
    await assert.rejects(imager.accumulate(rows), /\|w\| = .* wavelengths, outside the .* planned for/);
    await assert.rejects(imager.predict(rows), /outside the .* planned for/);
    rows.uvwM[3] = Number.NaN;
    await assert.rejects(imager.accumulate(rows), /no number/);
    const none = noiseRows({ ...layout, stationsM: [] }, randomStream(6, 'none'));
    await assert.rejects(imager.predict(none), /no model was loaded/);
  });

  it('is what reference takes where the direct sum would take long, and reports it', async () => {
    const rows = noiseRows(layout, randomStream(7, 'choice'));
    const methodOf = async (pixels: number): Promise<string> => {
      const plan = planWide({ pixels, pixelCosine: 1 / pixels, bounds: boundsOf([rows]) });
      return (await prepareWideImager(plan, openReference())).method;
    };
    // 66 pairs, two channels: 132 · 274² is just below ten millions, 132 · 276² just above
    assert.equal(await methodOf(274), 'summed');
    assert.equal(await methodOf(276), 'gridded');
  });

  it('reports its progress, plane by plane', async () => {
    const rows = noiseRows(layout, randomStream(8, 'progress'));
    const plan = planWide({ pixels: 64, pixelCosine: 1 / 64, bounds: boundsOf([rows]) });
    const reports: (readonly [number, number | undefined])[] = [];
    const imager = prepareGriddedImager(plan, { onProgress: ({ done, of }) => reports.push([done, of]) });
    await imageOf(imager, rows);
    const { planes } = plan.w;
    assert.ok(planes > 1);
    assert.deepEqual(
      reports,
      Array.from({ length: planes }, (_, k) => [k + 1, planes]),
    );
  });
});
