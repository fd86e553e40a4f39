/**
 * The error that direct imaging reports for LWA-SV is a bound: no pair of a pixel and a source of a dense lattice has a
 * larger one. The lattice shares nothing with the search that finds the bound (image/direct/holds.ts).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import type { ImagePlan } from '../image/index.js';
import { skyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { planSky, withCentre, type ImageSettings } from '../stages/index.js';
import { checkDirectImages } from './image.js';

const lwasv = await loadTelescope('lwasv');
const frame = skyFrame(lwasv.site, parseInstant('2026-06-21T04:00:00Z'));
const [RANDOM_PIXELS, RANDOM_SOURCES, WORST_PIXELS, LATTICE] = [300, 300, 3, 200];
const HIGH_UP = Math.sin((10 * Math.PI) / 180);

interface Direction {
  readonly l: number;
  readonly m: number;
}

/** The sine of the altitude. */
const upOf = ({ axes }: ImagePlan, { l, m }: Direction): number =>
  l * axes.l.z + m * axes.m.z + Math.sqrt(Math.max(0, 1 - l * l - m * m)) * axes.n.z;

/** [s] complex: e^(−2πi f r·ŝ/c). */
function exactAt({ stationsM, axes, frequenciesHz }: ImagePlan, { l, m }: Direction): Float64Array {
  const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
  const towards = {
    x: l * axes.l.x + m * axes.m.x + n * axes.n.x,
    y: l * axes.l.y + m * axes.m.y + n * axes.n.y,
    z: l * axes.l.z + m * axes.m.z + n * axes.n.z,
  };
  const values = new Float64Array(2 * stationsM.length);
  for (const [s, place] of stationsM.entries()) {
    const angle = (-2 * Math.PI * frequenciesHz[0] * dot(place, towards)) / SPEED_OF_LIGHT_M_PER_S;
    values[2 * s] = Math.cos(angle);
    values[2 * s + 1] = Math.sin(angle);
  }
  return values;
}

/** [s] complex: the transform of each station's kernel in a pixel. */
function griddedAt(plan: ImagePlan, pixel: number, { l, m }: Direction): Float64Array {
  const { stations, kernelSize: size, corners, taps, pixels, pixelSize, correction } = plan;
  const values = new Float64Array(2 * stations);
  for (let k = 0; k < stations * size * size; k++) {
    const [s, row, column] = [Math.floor(k / size ** 2), Math.floor(k / size) % size, k % size];
    const cells = (corners[2 * s] + row - pixels / 2) * m + (corners[2 * s + 1] + column - pixels / 2) * l;
    const angle = (-2 * Math.PI * cells) / (pixels * pixelSize);
    values[2 * s] += taps[2 * k] * Math.cos(angle) - taps[2 * k + 1] * Math.sin(angle);
    values[2 * s + 1] += taps[2 * k] * Math.sin(angle) + taps[2 * k + 1] * Math.cos(angle);
  }
  return values.map((value) => value * Math.sqrt(correction[pixel]));
}

/** |Σ_s a_s conj(b_s)|². */
function powerOf(a: Float64Array, b: Float64Array): number {
  let [re, im] = [0, 0];
  for (let s = 0; s < a.length; s += 2) {
    re += a[s] * b[s] + a[s + 1] * b[s + 1];
    im += a[s + 1] * b[s] - a[s] * b[s + 1];
  }
  return re * re + im * im;
}

const ownPower = (a: Float64Array): number => a.reduce((sum, value) => sum + value * value, 0);

interface Pixel {
  readonly gridded: Float64Array;
  readonly exact: Float64Array;
  readonly own: number;
}

function errorOf(pixel: Pixel, source: Float64Array): number {
  const stations = source.length / 2;
  const all = powerOf(pixel.gridded, source) - powerOf(pixel.exact, source);
  const withoutOwn = all - (pixel.own - stations);
  return Math.max(Math.abs(all) / stations ** 2, Math.abs(withoutOwn) / (stations * (stations - 1)));
}

/** The largest error for pixels and sources at least so high: random pairs, then a lattice for the worst pixels. */
function largestError(plan: ImagePlan, leastUp: number): number {
  const random = randomStream(7, 'dense', plan.kernelSize);
  const at = (pixel: number): Direction => ({
    l: ((pixel % plan.pixels) - plan.pixels / 2) * plan.pixelSize,
    m: (Math.floor(pixel / plan.pixels) - plan.pixels / 2) * plan.pixelSize,
  });
  const shown = Array.from(plan.shown.keys()).filter((pixel) => plan.shown[pixel] === 1 && upOf(plan, at(pixel)) >= leastUp); // prettier-ignore
  // Kernels are worst far from the centre along l or m.
  const outer = shown.filter((pixel) => Math.max(Math.abs(at(pixel).l), Math.abs(at(pixel).m)) > 0.85);
  const places = Array.from({ length: RANDOM_PIXELS }, (_, k) => {
    const from = k % 2 === 0 ? shown : outer;
    const pixel = from[random.below(from.length)];
    const gridded = griddedAt(plan, pixel, at(pixel));
    return { gridded, exact: exactAt(plan, at(pixel)), own: ownPower(gridded), worst: 0 };
  });
  const isUp = (place: Direction): boolean => place.l ** 2 + place.m ** 2 < 1 && upOf(plan, place) >= leastUp;
  for (let k = 0; k < RANDOM_SOURCES;) {
    const place = { l: 2 * random.uniform() - 1, m: 2 * random.uniform() - 1 };
    if (!isUp(place)) continue;
    k++;
    const source = exactAt(plan, place);
    for (const pixel of places) pixel.worst = Math.max(pixel.worst, errorOf(pixel, source));
  }
  const worst = places.sort((a, b) => b.worst - a.worst).slice(0, WORST_PIXELS);
  let largest = worst[0].worst;
  for (let k = 0; k < LATTICE ** 2; k++) {
    const step = (index: number): number => (2 * index + 1) / LATTICE - 1;
    const place = { l: step(k % LATTICE), m: step(Math.floor(k / LATTICE)) };
    if (!isUp(place)) continue;
    const source = exactAt(plan, place);
    for (const pixel of worst) largest = Math.max(largest, errorOf(pixel, source));
  }
  return largest;
}

describe("LWA-SV's reported error of direct images is above that of every pair in a dense lattice", () => {
  for (const frequencyHz of [58e6, 80e6])
    for (const kernelSize of [5, 7] as const)
      it(`${frequencyHz / 1e6} MHz, ${kernelSize} × ${kernelSize} kernels`, () => {
        const frequenciesHz = Float64Array.of(frequencyHz);
        const asked: ImageSettings = { field: { kind: 'all-sky' }, kernelSize };
        const image = withCentre(lwasv, frequenciesHz, asked);
        const plan = planSky(lwasv, frame, frequenciesHz, image);
        const { anywhere, high } = checkDirectImages({ telescope: lwasv, frequenciesHz }, frame, image);
        for (const [bound, leastUp] of [
          [anywhere, 0],
          [high, HIGH_UP],
        ]) {
          const found = largestError(plan, leastUp);
          // A bound, and not a loose one.
          assert.ok(found < bound && found > bound / 3, `${found} found, ${bound} reported`);
        }
      });
});
