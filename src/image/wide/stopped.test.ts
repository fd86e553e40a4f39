import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineIndex, countsCB, gainsCA, visibilitiesCBPP, weightsCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { cross, dot, normalise } from '../../core/vector.js';
import { imageOf } from './cases.js';
import { planWide } from './plan.js';
import { prepareWideReference } from './reference.js';
import { boundsOf } from './rows.js';
import { stopFringes, type StopOptions, type WideProduct } from './stopped.js';

const stationsM = [
  { x: 0, y: 0, z: 0 },
  { x: 3, y: 1, z: 0.5 },
  { x: -2, y: 4, z: 1 },
];
const n = normalise({ x: 0.5, y: -0.3, z: 0.8 });
const l = normalise(cross({ x: 0, y: 1, z: 0 }, n));
const axes = { l, m: cross(n, l), n };
const frequenciesHz = Float64Array.of(SPEED_OF_LIGHT_M_PER_S, 1.1 * SPEED_OF_LIGHT_M_PER_S);
const base: StopOptions = { stationsM, axes, frequenciesHz, product: 'XX', precision: 'float64' };
const COUNT = 40;

/** Sums over 40 samples of a source at (l, m) whose X and Y have this coherency: [XX, XY, YX, YY], complex. */
function observed(
  direction: readonly [number, number],
  coherency: readonly (readonly [number, number])[],
): Integration {
  const [east, north] = direction;
  const up = Math.sqrt(1 - east ** 2 - north ** 2);
  const towards = {
    x: east * l.x + north * axes.m.x + up * n.x,
    y: east * l.y + north * axes.m.y + up * n.y,
    z: east * l.z + north * axes.m.z + up * n.z,
  };
  const visibilities = new Float64Array(2 * 6 * 4 * 2);
  for (let c = 0; c < 2; c++) {
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j <= i; j++) {
        const metres = dot(stationsM[i], towards) - dot(stationsM[j], towards);
        const angle = (2 * Math.PI * metres * frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S;
        for (const [product, [re, im]] of coherency.entries()) {
          const at = 2 * ((c * 6 + baselineIndex(i, j)) * 4 + product);
          visibilities[at] = COUNT * (re * Math.cos(angle) - im * Math.sin(angle));
          visibilities[at + 1] = COUNT * (re * Math.sin(angle) + im * Math.cos(angle));
        }
      }
    }
  }
  return {
    start: instant(0),
    durationS: 1,
    channels: 2,
    stations: 3,
    polarisations: 2,
    visibilities: visibilitiesCBPP(visibilities, 2, 6, 2),
    counts: countsCB(new Float64Array(12).fill(COUNT), 2, 6),
    flaggedInputs: new Uint8Array(6),
  };
}

const coherency = [
  [3, 0],
  [0.5, -0.25],
  [0.5, 0.25],
  [2, 0],
] as const;

describe('fringes stopped at a centre', () => {
  it('a source there has no phase left, and its mean flux', () => {
    const rows = stopFringes(observed([0, 0], coherency), base);
    assert.equal(rows.uvwM.length, 9);
    for (let k = 0; k < 6; k++) {
      assert.ok(Math.abs((rows.visibilities?.[2 * k] ?? 0) - 3) < 1e-12);
      assert.ok(Math.abs(rows.visibilities?.[2 * k + 1] ?? 1) < 1e-12);
      assert.equal(rows.weights[k], COUNT);
    }
    // r_1 − r_0 = (3, 1, 0.5)
    assert.ok(Math.abs(rows.uvwM[2] - dot(stationsM[1], n)) < 1e-12);
    assert.ok(Math.abs(rows.uvwM[0] - dot(stationsM[1], l)) < 1e-12);
  });

  it('elsewhere it stands where it is, in every product', async () => {
    const integration = observed([0.3, -0.2], coherency);
    const expected = { XX: 3, YY: 2, I: 2.5, 'Re XY': 0.5, 'Im XY': -0.25 } satisfies Record<
      WideProduct,
      number
    >;
    for (const product of Object.keys(expected) as WideProduct[]) {
      const rows = stopFringes(integration, { ...base, product });
      const plan = planWide({ pixels: 20, pixelCosine: 0.1, bounds: boundsOf([rows]) });
      const image = await imageOf(prepareWideReference(plan), rows);
      assert.ok(Math.abs(image[8 * 20 + 13] - expected[product]) < 1e-12, product);
    }
  });

  it('flagged, empty and unsolved values have no weight; gains are taken out', () => {
    const integration = observed([0, 0], coherency);
    const flaggedInputs = Uint8Array.of(0, 0, 0, 1, 0, 0);
    const counts = countsCB(integration.counts.slice(), 2, 6);
    counts[baselineIndex(2, 0)] = 0;
    const rows = stopFringes({ ...integration, flaggedInputs, counts }, { ...base, product: 'YY' });
    // rows (1,0), (2,0), (2,1) by two channels; station 1's Y is flagged
    assert.deepEqual([...rows.weights], [0, 0, 0, COUNT, 0, 0]);
    const gains = gainsCA(
      Float64Array.from({ length: 24 }, (_, k) => [2, 0, 0, 1][k % 4]),
      2,
      6,
    );
    const solved = new Uint8Array(12).fill(1);
    solved[2] = 0;
    const calibrated = stopFringes(integration, { ...base, gains, solved });
    // X has gain 2: |g|² = 4
    assert.deepEqual([...calibrated.weights], [0, COUNT, COUNT, COUNT, 0, COUNT]);
    assert.ok(Math.abs((calibrated.visibilities?.[4] ?? 0) - 3 / 4) < 1e-12);
    const float32 = stopFringes(integration, { ...base, precision: 'float32' });
    assert.ok(float32.visibilities instanceof Float32Array);
  });

  it('Stokes I weighs as the mean of both hands does: 2 / (1/a + 1/b)', () => {
    const integration = observed([0, 0], coherency);
    const means = visibilitiesCBPP(
      integration.visibilities.map((sum) => sum / COUNT),
      2,
      6,
      2,
    );
    // XX of weight 10, YY of 1000: the worse one limits the accuracy of their mean.
    const weights = weightsCBPP(
      Float64Array.from({ length: 48 }, (_, k) => [10, 1, 1, 1000][k % 4]),
      2,
      6,
      2,
    );
    const rows = stopFringes({ ...integration, passThrough: { means, weights } }, { ...base, product: 'I' });
    assert.ok(rows.weights.every((weight) => Math.abs(weight - 2 / (1 / 10 + 1 / 1000)) < 1e-5));
    assert.ok(Math.abs((rows.visibilities?.[0] ?? 0) - 2.5) < 1e-12);
  });

  it('refuses what does not fit', () => {
    const integration = observed([0, 0], coherency);
    assert.throws(
      () => stopFringes(integration, { ...base, stationsM: stationsM.slice(1) }),
      /3 stations and 2 channels where there are 2 stations/,
    );
    const single = { ...integration, polarisations: 1 as const };
    assert.throws(() => stopFringes(single, { ...base, product: 'I' }), /one polarisation; ask for 'XX'/);
  });
});
