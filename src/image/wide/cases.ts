/** Arrays, skies and the cases that every backend must pass against the direct sum. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Backend } from '../../backend/backend.js';
import { planeML, uvwR, visibilitiesRC, weightsRC, type PlaneML } from '../../core/axes.js';
import { randomStream, type RandomStream } from '../../core/random.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { cross, dot, normalise, type Vector3 } from '../../core/vector.js';
import { boundsOf, planWide, prepareWideImager, type WideOptions, type WideRows } from './index.js';
import type { WideImager } from './imager.js';
import { depth, type WidePlan } from './plan.js';
import { prepareWideReference } from './reference.js';

export type Ground = 'flat' | 'tilted' | 'hilly';

/** Stations on a disc, slanted by 10°, or on hills one wavelength high. */
export function stationsOn(
  ground: Ground,
  options: { readonly stations: number; readonly radiusM: number },
): Vector3[] {
  const random = randomStream(41, ground);
  const tilt = ground === 'tilted' ? 10 * RADIANS_PER_DEGREE : 0;
  return Array.from({ length: options.stations }, () => {
    const radius = options.radiusM * Math.sqrt(random.uniform());
    const angle = 2 * Math.PI * random.uniform();
    const height = ground === 'hilly' ? 2 * random.gaussian() : 0;
    const along = radius * Math.cos(angle);
    return {
      x: along * Math.cos(tilt) - height * Math.sin(tilt),
      y: radius * Math.sin(angle),
      z: along * Math.sin(tilt) + height * Math.cos(tilt),
    };
  });
}

export interface Layout {
  readonly stationsM: readonly Vector3[];
  /** Of the centre, in degrees; towards the south-east. */
  readonly zenithAngleDeg: number;
  readonly frequenciesHz: Float64Array;
}

/** Every pair once, u, v, w = r_i − r_j along east and north at the centre, and towards it. */
export function pairsUvw({ stationsM, zenithAngleDeg }: Layout): Float64Array {
  const z = zenithAngleDeg * RADIANS_PER_DEGREE;
  const n = { x: Math.sin(z) * Math.SQRT1_2, y: -Math.sin(z) * Math.SQRT1_2, z: Math.cos(z) };
  const l = normalise(cross({ x: 0, y: 1, z: 0 }, n));
  const m = cross(n, l);
  const uvw: number[] = [];
  for (const [i, a] of stationsM.entries()) {
    for (const b of stationsM.slice(0, i)) {
      const baseline = { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z };
      uvw.push(dot(baseline, l), dot(baseline, m), dot(baseline, n));
    }
  }
  return Float64Array.from(uvw);
}

/** Noise: the worst case, since a kernel's errors do not average out. */
export function noiseRows(layout: Layout, random: RandomStream): WideRows {
  const uvw = pairsUvw(layout);
  const rows = uvw.length / 3;
  const channels = layout.frequenciesHz.length;
  return {
    uvwM: uvwR(uvw, rows),
    frequenciesHz: layout.frequenciesHz,
    visibilities: visibilitiesRC(
      Float64Array.from({ length: 2 * rows * channels }, () => Math.fround(random.gaussian())),
      rows,
      channels,
    ),
    weights: weightsRC(
      Float32Array.from({ length: rows * channels }, () => 0.5 + random.uniform()),
      rows,
      channels,
    ),
  };
}

export interface Source {
  readonly l: number;
  readonly m: number;
  readonly fluxJy: number;
}

/** Visibilities that perfect stations measure, fringes stopped. */
export function sourceRows(rows: WideRows, sources: readonly Source[]): WideRows {
  const channels = rows.frequenciesHz.length;
  const values = new Float64Array(2 * rows.weights.length);
  for (let row = 0; row < rows.uvwM.length / 3; row++) {
    for (const { l, m, fluxJy } of sources) {
      const metres =
        rows.uvwM[3 * row] * l + rows.uvwM[3 * row + 1] * m - rows.uvwM[3 * row + 2] * depth(l * l + m * m);
      for (let c = 0; c < channels; c++) {
        const angle = (2 * Math.PI * metres * rows.frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S;
        values[2 * (row * channels + c)] += fluxJy * Math.cos(angle);
        values[2 * (row * channels + c) + 1] += fluxJy * Math.sin(angle);
      }
    }
  }
  return { ...rows, visibilities: visibilitiesRC(values, rows.uvwM.length / 3, channels) };
}

export async function imageOf(imager: WideImager, ...blocks: readonly WideRows[]): Promise<PlaneML> {
  for (const block of blocks) await imager.accumulate(block);
  return (await imager.finish()).image;
}

/** The largest difference over the largest value; the same pixels must be NaN. */
export function worstOverPeak(image: PlaneML, expected: PlaneML): number {
  let worst = 0;
  let peak = 0;
  for (const [k, value] of expected.entries()) {
    assert.equal(Number.isNaN(image[k]), Number.isNaN(value), `NaN at pixel ${k}`);
    if (Number.isNaN(value)) continue;
    worst = Math.max(worst, Math.abs(image[k] - value));
    peak = Math.max(peak, Math.abs(value));
  }
  return worst / peak;
}

export const withoutVisibilities = ({ uvwM, frequenciesHz, weights }: WideRows): WideRows => ({
  uvwM,
  frequenciesHz,
  weights,
});

const station = { stations: 20, radiusM: 14, frequenciesHz: Float64Array.of(150e6, 151.5e6, 153e6) };
const dishes = { stations: 20, radiusM: 1000, frequenciesHz: Float64Array.of(1.4e9, 1.402e9) };

interface Field {
  readonly name: string;
  readonly stations: number;
  readonly radiusM: number;
  readonly frequenciesHz: Float64Array;
  readonly pixels: number;
  readonly pixelCosine: number;
}

/** All sky to the horizon of a station; one degree of dishes two kilometres apart. */
const fields: readonly Field[] = [
  { name: 'whole sky', ...station, pixels: 64, pixelCosine: 2 / 64 },
  { name: 'one degree', ...dishes, pixels: 48, pixelCosine: RADIANS_PER_DEGREE / 48 },
];

interface Prepared {
  readonly plan: WidePlan;
  readonly rows: WideRows;
}

function prepare(
  ground: Ground,
  zenithAngleDeg: number,
  field: Field,
  options: Partial<WideOptions> = {},
): Prepared {
  const layout = { stationsM: stationsOn(ground, field), zenithAngleDeg, frequenciesHz: field.frequenciesHz };
  const rows = noiseRows(layout, randomStream(42, ground, zenithAngleDeg, field.name));
  const { pixels, pixelCosine } = field;
  return { plan: planWide({ pixels, pixelCosine, bounds: boundsOf([rows]), ...options }), rows };
}

/** <A v, m> and Re <v, A* m>, their difference over |A v| |m|: the largest of four random m. */
async function adjointDifference(imager: WideImager, rows: WideRows): Promise<number> {
  const { pixels } = imager.plan;
  const even = {
    ...rows,
    weights: weightsRC(
      rows.weights.map(() => 1),
      rows.uvwM.length / 3,
      rows.frequenciesHz.length,
    ),
  };
  await imager.accumulate(even);
  const { image, weightSum } = await imager.finish();
  let worst = 0;
  for (let draw = 0; draw < 4; draw++) {
    const random = randomStream(43 + draw, 'model');
    const model = planeML(
      Float64Array.from({ length: pixels * pixels }, () => random.gaussian()),
      pixels,
    );
    await imager.loadModel(model);
    const back = await imager.predict(rows);
    let forward = 0;
    let imageNorm = 0;
    let modelNorm = 0;
    for (const [k, value] of image.entries()) {
      if (Number.isNaN(value)) continue;
      forward += value * weightSum * model[k];
      imageNorm += (value * weightSum) ** 2;
      modelNorm += model[k] ** 2;
    }
    let backward = 0;
    for (const [k, value] of back.entries()) backward += value * (rows.visibilities?.[k] ?? 0);
    worst = Math.max(worst, Math.abs(forward - backward) / Math.sqrt(imageNorm * modelNorm));
  }
  return worst;
}

/** `prepareOn`: the backend's own imager by default. */
export function wideCases(
  open: () => Promise<Backend>,
  prepareOn: (plan: WidePlan, backend: Backend) => Promise<WideImager> = prepareWideImager,
): void {
  let backend: Backend;
  before(async () => {
    backend = await open();
  });
  after(() => backend.close());
  const imaged = async (plan: WidePlan, ...blocks: readonly WideRows[]): Promise<PlaneML> => {
    const imager = await prepareOn(plan, backend);
    const image = await imageOf(imager, ...blocks);
    await imager.close();
    return image;
  };
  const expected = (plan: WidePlan, rows: WideRows): Promise<PlaneML> =>
    imageOf(prepareWideReference(plan), rows);

  describe('1e-4 of the peak, of noise and of its beam', () => {
    for (const field of fields) {
      for (const ground of ['flat', 'tilted', 'hilly'] as const) {
        for (const zenithAngleDeg of [0, 60]) {
          it(`${field.name}, ${ground} ground, ${zenithAngleDeg}° off the zenith`, async () => {
            const { plan, rows } = prepare(ground, zenithAngleDeg, field);
            const image = await imaged(plan, rows);
            assert.ok(worstOverPeak(image, await expected(plan, rows)) < 1e-4);
            const beamRows = withoutVisibilities(rows);
            const beam = await imaged(plan, beamRows);
            assert.ok(worstOverPeak(beam, await expected(plan, beamRows)) < 1e-4);
            assert.ok(Math.abs(beam[(plan.pixels / 2) * (plan.pixels + 1)] - 1) < 1e-4);
          });
        }
      }
    }
  });

  for (const accuracy of [1e-2, 1e-3, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7]) {
    it(`an accuracy of ${accuracy} is kept`, async () => {
      for (const field of fields) {
        const { plan, rows } = prepare('hilly', 60, field, { accuracy });
        const worst = worstOverPeak(await imaged(plan, rows), await expected(plan, rows));
        assert.ok(worst < accuracy, `${worst} in ${field.name}`);
      }
    });
  }

  it('the way back is the adjoint, to 1e-8 in float32 and 1e-14 in float64', async () => {
    // Both directions use the same taps, so only rounding is left that a random m does not average out: over n pixels a
    // side it falls as 1/n, 2e-9 rms at 256. (At 64 pixels one m in ten is beyond 1e-8.)
    for (const one of fields) {
      const field = { ...one, pixels: 4 * one.pixels, pixelCosine: one.pixelCosine / 4 };
      for (const [accuracy, most] of [
        [1e-4, 1e-8],
        [1e-6, 1e-14],
      ] as const) {
        const { plan, rows } = prepare('hilly', 60, field, { accuracy });
        const imager = await prepareOn(plan, backend);
        const difference = await adjointDifference(imager, rows);
        await imager.close();
        assert.ok(difference < most, `${difference} in ${field.name}`);
      }
    }
  });

  it('predicts what a few pixels shine, and looks at none below the horizon', async () => {
    const { plan, rows } = prepare('hilly', 60, fields[0]);
    const { pixels } = plan;
    const model = planeML(new Float64Array(pixels * pixels), pixels);
    for (const [column, row, fluxJy] of [
      [40, 20, 2],
      [11, 33, -1],
      [32, 1, 0.5],
    ]) {
      model[row * pixels + column] = fluxJy;
    }
    const reference = prepareWideReference(plan);
    await reference.loadModel(model);
    const wanted = await reference.predict(rows);
    model[0] = Number.NaN;
    const imager = await prepareOn(plan, backend);
    await imager.loadModel(model);
    for (let times = 0; times < 2; times++) {
      const values = await imager.predict(rows);
      for (const [k, value] of wanted.entries()) assert.ok(Math.abs(values[k] - value) < 3e-4, `value ${k}`);
    }
    await imager.close();
  });

  it('planes that do not fit are gridded one stack after the other', async () => {
    const { plan, rows } = prepare('hilly', 60, fields[0]);
    const imager = await prepareOn(plan, backend);
    const image = await imageOf(imager, rows);
    await imager.loadModel(image);
    const predicted = await imager.predict(rows);
    const most = Math.max(...Array.from(predicted, Math.abs));
    await imager.close();
    const fixed = plan.memoryBytes - plan.planesHeld * plan.gridCells ** 2 * 8;
    for (const planes of [1, 3, plan.w.planes - 1]) {
      const tight = prepare('hilly', 60, fields[0], {
        memoryBytes: fixed + planes * plan.gridCells ** 2 * 8,
      }).plan;
      assert.equal(tight.planesHeld, planes);
      const stacked = await prepareOn(tight, backend);
      assert.ok(worstOverPeak(await imageOf(stacked, rows), image) < 1e-6);
      await stacked.loadModel(image);
      const again = await stacked.predict(rows);
      assert.ok(again.every((value, k) => Math.abs(value - predicted[k]) < 1e-6 * most));
      await stacked.close();
    }
  });

  it('blocks add up, and after an image the next one starts empty', async () => {
    const { plan, rows } = prepare('tilted', 60, fields[0]);
    const part = (first: number, end: number): WideRows => ({
      uvwM: uvwR(rows.uvwM.slice(3 * first, 3 * end), end - first),
      frequenciesHz: rows.frequenciesHz,
      visibilities: visibilitiesRC(
        rows.visibilities?.slice(6 * first, 6 * end) ?? new Float64Array(),
        end - first,
        3,
      ),
      weights: weightsRC(rows.weights.slice(3 * first, 3 * end), end - first, 3),
    });
    const all = rows.uvwM.length / 3;
    const imager = await prepareOn(plan, backend);
    const whole = await imageOf(imager, rows);
    const pieces = await imageOf(imager, part(0, 7), part(7, 100), part(100, all));
    // A card adds float32 in no fixed order.
    assert.ok(worstOverPeak(pieces, whole) < (backend.kind === 'cuda' ? 3e-6 : 1e-6));
    const { weightSum, image } = await imager.finish();
    assert.equal(weightSum, 0);
    assert.ok(image.every((value) => value === 0 || Number.isNaN(value)));
    await imager.close();
  });

  it('what has no weight is left out, whatever its value', async () => {
    const { plan, rows } = prepare('hilly', 0, fields[0]);
    const weights = weightsRC(rows.weights.slice(), rows.uvwM.length / 3, 3);
    const values = rows.visibilities?.slice() ?? new Float64Array();
    for (let k = 0; k < weights.length; k += 5) {
      weights[k] = k % 2 === 0 ? 0 : -1;
      values[2 * k] = Number.NaN;
    }
    const flagged = { ...rows, weights, visibilities: visibilitiesRC(values, rows.uvwM.length / 3, 3) };
    assert.ok(worstOverPeak(await imaged(plan, flagged), await expected(plan, flagged)) < 1e-4);
  });

  it('baselines longer than pixels can follow are still summed exactly', async () => {
    const { plan, rows } = prepare('hilly', 60, { ...fields[0], radiusM: 60 });
    assert.ok(worstOverPeak(await imaged(plan, rows), await expected(plan, rows)) < 1e-4);
  });

  it('flux over n where asked for', async () => {
    const { plan, rows } = prepare(
      'hilly',
      0,
      { ...fields[0], pixels: 40, pixelCosine: 2 / 64 },
      { scale: 'flux-over-n' },
    );
    assert.ok(worstOverPeak(await imaged(plan, rows), await expected(plan, rows)) < 1e-4);
  });

  it('odd sizes', async () => {
    for (const pixels of [16, 18, 50, 90]) {
      const { plan, rows } = prepare('hilly', 60, { ...fields[0], pixels, pixelCosine: 2 / pixels });
      assert.ok(
        worstOverPeak(await imaged(plan, rows), await expected(plan, rows)) < 1e-4,
        `${pixels} pixels`,
      );
    }
  });
}
