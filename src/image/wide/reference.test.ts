import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planeML, uvwR, visibilitiesRC, weightsRC } from '../../core/axes.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { imageOf } from './cases.js';
import { planWide, type WideScale } from './plan.js';
import { prepareWideReference } from './reference.js';
import type { WideRows } from './rows.js';

/** One metre is one wavelength. */
const frequenciesHz = Float64Array.of(SPEED_OF_LIGHT_M_PER_S);
const rowsAt = (uvw: readonly number[], values: readonly number[], weights: readonly number[]): WideRows => ({
  uvwM: uvwR(Float64Array.from(uvw), uvw.length / 3),
  frequenciesHz,
  visibilities: visibilitiesRC(Float64Array.from(values), uvw.length / 3, 1),
  weights: weightsRC(Float32Array.from(weights), uvw.length / 3, 1),
});
const planOf = (scale: WideScale = 'flux') =>
  planWide({
    pixels: 20,
    pixelCosine: 0.1,
    bounds: { leastWLambda: 0, mostWLambda: 2, visibilities: 1 },
    scale,
  });
/** Column and row of a direction: l = (column − 10)/10. */
const at = (l: number, m: number): number => (10 + Math.round(10 * m)) * 20 + 10 + Math.round(10 * l);
const near = (value: number, expected: number): void => {
  assert.ok(Math.abs(value - expected) < 1e-12, `${value} where ${expected} was expected`);
};

describe('the direct sum', () => {
  it('one pair along east', async () => {
    const image = await imageOf(prepareWideReference(planOf()), rowsAt([0.5, 0, 0], [2, 0], [3]));
    // Re 2 e^(−2πi·l/2) = 2 cos πl, whatever the weight
    near(image[at(0, 0)], 2);
    near(image[at(0.5, 0.3)], 0);
    near(image[at(-0.2, -0.9)], 2 * Math.cos(0.2 * Math.PI));
    assert.ok(Number.isNaN(image[at(0.8, 0.8)]));
  });

  it('a quarter of a turn ahead: the source is in the east', async () => {
    // V = e^(+2πi u l) with l = 0.5 and u = 0.5 is i
    const image = await imageOf(prepareWideReference(planOf()), rowsAt([0.5, 0, 0], [0, 1], [1]));
    near(image[at(0.5, 0)], 1);
    near(image[at(-0.5, 0)], -1);
  });

  it('w counts n − 1, and weights average', async () => {
    const rows = rowsAt([0, 0, 2, 0, 0, 0], [1, 0, 1, 0], [1, 3]);
    const image = await imageOf(prepareWideReference(planOf()), rows);
    // l = 0.6: n = 0.8, cos(2π·2·(−0.2)) = cos 0.8π; the other pair gives 1 everywhere
    near(image[at(0.6, 0)], (Math.cos(0.8 * Math.PI) + 3) / 4);
    near(image[at(0, 0)], 1);
  });

  it('over n: 1/0.8 at l = 0.6, blank on the horizon', async () => {
    const rows = rowsAt([0, 0, 0], [1, 0], [1]);
    const image = await imageOf(prepareWideReference(planOf('flux-over-n')), rows);
    near(image[at(0.6, 0)], 1.25);
    assert.ok(Number.isNaN(image[at(-1, 0)]));
    const plain = await imageOf(prepareWideReference(planOf()), rows);
    near(plain[at(-1, 0)], 1);
  });

  it('flagged values do not count; an empty image is 0', async () => {
    const rows = rowsAt([0.5, 0, 0, 0, 0, 0], [2, 0, Number.NaN, 0], [1, 0]);
    const imager = prepareWideReference(planOf());
    await imager.accumulate(rows);
    const { image, weightSum, visibilities } = await imager.finish();
    near(image[at(0, 0)], 2);
    assert.deepEqual([weightSum, visibilities], [1, 1]);
    assert.equal((await imager.finish()).image[at(0, 0)], 0);
  });

  it('and back: a pixel of 3 Jy at l = 0.6, m = −0.5', async () => {
    const imager = prepareWideReference(planOf());
    const model = planeML(new Float64Array(400), 20);
    model[at(0.6, -0.5)] = 3;
    const rows = rowsAt([0.3, 0.4, -1.5], [0, 0], [1]);
    await assert.rejects(imager.predict(rows), /no model was loaded/);
    await imager.loadModel(model);
    const [re, im] = await imager.predict(rows);
    const angle = 2 * Math.PI * (0.3 * 0.6 - 0.4 * 0.5 - 1.5 * (Math.sqrt(1 - 0.61) - 1));
    near(re, 3 * Math.cos(angle));
    near(im, 3 * Math.sin(angle));
  });

  it('refuses arrays that do not fit together', async () => {
    const rows = rowsAt([0, 0, 0], [1, 0], [1]);
    const weights = weightsRC(Float32Array.of(1, 1), 2, 1);
    await assert.rejects(
      prepareWideReference(planOf()).accumulate({ ...rows, weights }),
      /weights hold 2 numbers where rows and channels make 1/,
    );
  });
});
