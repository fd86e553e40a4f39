/** The error that direct imaging predicts, against images of a single source by direct imaging. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { directImageError, imageVisibilities, planImage, type ImagePlan } from '../index.js';

const FREQUENCY_HZ = 150e6;
const axes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } };

/** Forty stations in 28 m: 14 wavelengths. */
function stationsOn(heightM: number, slopeDeg: number): Vector3[] {
  const random = randomStream(3, 'heights');
  return Array.from({ length: 40 }, () => {
    const radius = 14 * Math.sqrt(random.uniform());
    const angle = 2 * Math.PI * random.uniform();
    const x = radius * Math.cos(angle);
    const z = heightM * random.gaussian() + Math.tan((slopeDeg * Math.PI) / 180) * x;
    return { x, y: radius * Math.sin(angle), z };
  });
}

const planOf = (stationsM: readonly Vector3[]): ImagePlan =>
  planImage({
    pixels: 64,
    field: { kind: 'all-sky' },
    stationsM,
    axes,
    polarisations: 1,
    frequenciesHz: Float64Array.of(FREQUENCY_HZ),
    kernel: { kind: 'fitted', size: 5 },
  });

/** A source imaged by the formula, through the gridding kernels, against a plain sum over pairs in every pixel. */
function trueError(
  plan: ImagePlan,
  l: number,
  m: number,
  autos: 'include' | 'leave-out' = 'include',
): number {
  const { stationsM, stations, pixels, pixelSize } = plan;
  const towards = (x: number, y: number): Vector3 => ({ x, y, z: Math.sqrt(Math.max(0, 1 - x * x - y * y)) });
  const phases = (s: Vector3): number[] =>
    stationsM.map(
      (r) => (2 * Math.PI * FREQUENCY_HZ * (r.x * s.x + r.y * s.y + r.z * s.z)) / SPEED_OF_LIGHT_M_PER_S,
    );
  const source = phases(towards(l, m));
  const baselines = baselineCount(stations);
  const visibilities = new Float64Array(2 * baselines);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      visibilities[2 * baselineIndex(i, j)] = Math.cos(source[i] - source[j]);
      visibilities[2 * baselineIndex(i, j) + 1] = Math.sin(source[i] - source[j]);
    }
  }
  const { image } = imageVisibilities(
    plan,
    [
      {
        start: instant(0),
        durationS: 1,
        channels: 1,
        stations,
        polarisations: 1,
        visibilities: visibilitiesCBPP(visibilities, 1, baselines, 1),
        counts: countsCB(new Float64Array(baselines).fill(1), 1, baselines),
        flaggedInputs: new Uint8Array(stations),
      },
    ],
    { autos },
  );
  let worst = 0;
  for (let at = 0; at < image.length; at++) {
    if (Number.isNaN(image[at])) continue;
    const here = phases(
      towards(((at % pixels) - pixels / 2) * pixelSize, (Math.floor(at / pixels) - pixels / 2) * pixelSize),
    );
    let [re, im] = [0, 0];
    for (let s = 0; s < stations; s++) {
      re += Math.cos(source[s] - here[s]);
      im += Math.sin(source[s] - here[s]);
    }
    const exact =
      autos === 'include'
        ? (re * re + im * im) / stations ** 2
        : (re * re + im * im - stations) / (stations * (stations - 1));
    worst = Math.max(worst, Math.abs(image[at] - exact));
  }
  return worst;
}

describe('the error bound of direct imaging', () => {
  for (const [name, heightM, slopeDeg, least, most] of [
    ['a flat, level array', 0, 0, 0, 0.01],
    ['heights of a tenth of a wavelength', 0.2, 0, 0.005, 0.04],
    ['heights of a wavelength', 2, 0, 0.2, 1],
    ['a slope of 3°', 0, 3, 0.01, 0.2],
    ['a slope of 10°', 0, 10, 0.1, 1.2],
  ] as const) {
    it(`${name}: between ${100 * least} and ${100 * most} %, and as images show it`, () => {
      const plan = planOf(stationsOn(heightM, slopeDeg));
      const { anywhere: said, high } = directImageError(plan);
      assert.ok(said >= least && said <= most, `${said}`);
      const seen = Math.max(
        ...[[0, 0], [0.5, 0.4], [-0.7, 0.3], [0.2, -0.85], ...rimOf(plan).map(({ l, m }) => [l, m])].map(
          ([l, m]) => trueError(plan, l, m),
        ),
      );
      assert.ok(high <= said, `${high}`);
      // A bound, and not a loose one: the worst is at the rim.
      assert.ok(said > seen && said < 3 * seen, `${said} said, ${seen} seen`);
    });
  }
});

/** Where kernels are worst: the pixels farthest from the centre, in one quarter and across it. */
function rimOf({ pixels, pixelSize, shown }: ImagePlan): { l: number; m: number }[] {
  const all = Array.from(shown.keys()).filter((at) => shown[at] === 1);
  const places = all.map((at) => ({
    l: ((at % pixels) - pixels / 2) * pixelSize,
    m: (Math.floor(at / pixels) - pixels / 2) * pixelSize,
  }));
  return places.sort((a, b) => Math.hypot(b.l, b.m) - Math.hypot(a.l, a.m)).slice(0, 16);
}

describe('sources at the rim are within the bound', () => {
  for (const stations of [6, 24])
    for (const heightM of [0, 0.1])
      for (const size of [3, 5, 7] as const)
        it(`${stations} stations, heights of ${heightM} m, ${size} × ${size} kernels`, () => {
          for (const seed of [11, 12, 13]) {
            const random = randomStream(seed, 'adv');
            const stationsM = Array.from({ length: stations }, () => {
              const [radius, angle] = [
                stations * Math.sqrt(random.uniform()) * 0.5,
                2 * Math.PI * random.uniform(),
              ];
              return {
                x: radius * Math.cos(angle),
                y: radius * Math.sin(angle),
                z: heightM * random.gaussian(),
              };
            });
            const plan = planImage({
              pixels: 64,
              field: { kind: 'all-sky' },
              stationsM,
              axes,
              polarisations: 1,
              frequenciesHz: Float64Array.of(FREQUENCY_HZ),
              kernel: { kind: 'fitted', size },
            });
            const { anywhere } = directImageError(plan);
            for (const { l, m } of rimOf(plan))
              for (const autos of ['include', 'leave-out'] as const) {
                const seen = trueError(plan, l, m, autos);
                assert.ok(seen <= anywhere, `${seen} seen, ${anywhere} said, at ${l}, ${m}, autos ${autos}`);
              }
          }
        });
});
