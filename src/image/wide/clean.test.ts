import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { loadNative } from '../../backend/cpu/library.js';
import { openReference } from '../../backend/reference.js';
import { planeML, visibilitiesRC, weightsRC, type PlaneML } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { noiseRows, sourceRows, stationsOn } from './cases.js';
import { cleanWide, noiseOf } from './clean.js';
import { hogbomFast, hogbomPlain } from './hogbom.js';
import { boundsOf, planWide, prepareWideImager, type WideRows } from './index.js';

const pixels = 128;
const pixelCosine = 0.004;
/** At pixel centres, so that a model of pixels can represent them. */
const sources = [
  [64, 64, 10],
  [20, 100, 7],
  [110, 30, 5],
  [90, 90, 3],
  [40, 50, 2],
].map(([column, row, fluxJy]) => ({
  at: row * pixels + column,
  l: (column - pixels / 2) * pixelCosine,
  m: (row - pixels / 2) * pixelCosine,
  fluxJy,
}));

function observed(noiseJy: number): WideRows {
  const layout = {
    stationsM: stationsOn('hilly', { stations: 40, radiusM: 90 }),
    zenithAngleDeg: 40,
    frequenciesHz: Float64Array.of(150e6, 155e6),
  };
  const noise = noiseRows(layout, randomStream(8, 'clean'));
  const rows = sourceRows(noise, sources);
  const values = rows.visibilities?.map(
    (value, k) => value + noiseJy * (noise.visibilities?.[k] ?? 0),
  ) as Float64Array;
  return {
    ...rows,
    visibilities: visibilitiesRC(values, rows.uvwM.length / 3, 2),
    weights: weightsRC(
      rows.weights.map(() => 1),
      rows.uvwM.length / 3,
      2,
    ),
  };
}

/** Flux of the model within two pixels. */
function fluxAt(model: PlaneML, at: number): number {
  let sum = 0;
  for (let y = -2; y <= 2; y++) for (let x = -2; x <= 2; x++) sum += model[at + y * pixels + x];
  return sum;
}

const library = loadNative();
const onCpu = { skip: 'what' in library ? library.what : false };

describe('CLEAN', onCpu, () => {
  const prepare = async (noiseJy: number) => {
    const rows = observed(noiseJy);
    const cpu = await openCpu({ threads: 2 });
    const plan = planWide({ pixels, pixelCosine, bounds: boundsOf([rows]) });
    return { rows, cpu, imager: await prepareWideImager(plan, cpu) };
  };

  it('finds sources and their fluxes, down to the noise', async () => {
    const { rows, cpu, imager } = await prepare(1);
    const cleaned = await cleanWide(imager, () => [rows], { autoThreshold: 3, autoMask: 5 });
    assert.equal(cleaned.stop, 'threshold');
    assert.ok(cleaned.majorCycles > 1);
    const expectedNoise = 1 / Math.sqrt(rows.weights.length);
    assert.ok(
      cleaned.noiseJy < 1.3 * expectedNoise,
      `noise of ${cleaned.noiseJy} where ${expectedNoise} is in`,
    );
    for (const { at, fluxJy } of sources) {
      // flux below the threshold of three times the noise stays in the residual
      const missing = fluxJy - fluxAt(cleaned.model, at);
      assert.ok(Math.abs(missing) < 5 * cleaned.noiseJy, `${missing} of ${fluxJy}`);
      assert.ok(Math.abs(cleaned.restored[at] - fluxJy) < 0.01 * fluxJy + 3 * cleaned.noiseJy);
    }
    // the faintest is below the others' sidelobes in the dirty image
    assert.ok(noiseOf(cleaned.dirty) > 5 * cleaned.noiseJy);
    await cpu.close();
  });

  it('a threshold in Jy, a limit of components or of cycles ends it, and a mask is kept', async () => {
    const { rows, cpu, imager } = await prepare(0);
    const deep = await cleanWide(imager, () => [rows], { thresholdJy: 0.05, gain: 0.2 });
    assert.equal(deep.stop, 'threshold');
    assert.ok(deep.residual.every((value) => Math.abs(value) <= 0.05));
    const few = await cleanWide(imager, () => [rows], { thresholdJy: 0.05, mostIterations: 7 });
    assert.deepEqual([few.stop, few.iterations], ['iterations', 7]);
    const one = await cleanWide(imager, () => [rows], { thresholdJy: 0.05, mostMajorCycles: 1 });
    assert.deepEqual([one.stop, one.majorCycles], ['major cycles', 1]);
    const mask = new Uint8Array(pixels * pixels);
    mask[sources[1].at] = 1;
    const masked = await cleanWide(imager, () => [rows], { thresholdJy: 0.5, mask });
    assert.deepEqual(
      [...masked.model.entries()].filter(([, flux]) => flux !== 0).map(([at]) => at),
      [sources[1].at],
    );
    await cpu.close();
  });

  it('data without weight and masks of another size are refused', async () => {
    const { rows, cpu, imager } = await prepare(0);
    const flagged = {
      ...rows,
      weights: weightsRC(
        rows.weights.map(() => 0),
        rows.uvwM.length / 3,
        2,
      ),
    };
    await assert.rejects(
      cleanWide(imager, () => [flagged]),
      /no visibility has any weight/,
    );
    await assert.rejects(
      cleanWide(imager, () => [rows], { mask: new Uint8Array(4) }),
      /mask of 4 pixels/,
    );
    await cpu.close();
  });
});

describe('minor cycles', () => {
  it('the fast one takes the same components as the plain one', async () => {
    const rows = observed(0);
    const small = { pixels: 32, pixelCosine: 0.016 };
    const plan = planWide({ ...small, bounds: boundsOf([rows]) });
    const imager = await prepareWideImager(plan, openReference());
    await imager.accumulate(rows);
    const { image: dirty } = await imager.finish();
    const { uvwM, frequenciesHz, weights } = rows;
    await imager.accumulate({ uvwM, frequenciesHz, weights });
    const { image: beam } = await imager.finish();
    const [plain, fast] = [hogbomPlain, hogbomFast].map((loop) => {
      const residual = planeML(dirty.slice(), 32);
      const model = planeML(new Float64Array(32 * 32), 32);
      const cycle = { pixels: 32, beam, residual, model, gain: 0.1, downTo: 3, mostIterations: 1000 };
      return { taken: loop(cycle), residual, model };
    });
    assert.ok(plain.taken > 10);
    assert.equal(fast.taken, plain.taken);
    for (const [k, flux] of plain.model.entries()) assert.ok(Math.abs(fast.model[k] - flux) < 1e-9);
    for (const [k, value] of plain.residual.entries()) assert.ok(Math.abs(fast.residual[k] - value) < 1e-9);
  });
});
