/** Halves chosen together: they are halves, near the exact values, and the image has smaller errors. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../../../../core/random.js';
import { randomStations, zenithAxes } from '../../../cases.js';
import { halfTurns, roundTaps, roundTogether } from './half-rounding.js';
import { fromHalfBits, halfBits } from './half.js';
import { planImage, type ImagePlan } from '../../../index.js';

const nearest = (value: number): number => fromHalfBits(halfBits(value));
const makePlan = (size: 1 | 3 | 5 | 7): ImagePlan =>
  planImage({
    pixels: 64,
    field: { kind: 'all-sky' },
    stationsM: randomStations(5, 12, 40),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6),
    polarisations: 1,
    kernel: { kind: 'fitted', size },
  });

/** Rms error of the antennas' responses over the shown pixels, with the taper taken out. */
function answerError(plan: ImagePlan, taps: Float64Array): number {
  const { pixels, kernelSize: size, shown, correction } = plan;
  let [sum, count] = [0, 0];
  for (let first = 0; first < taps.length; first += 2 * size * size) {
    for (let at = 0; at < pixels * pixels; at += 7) {
      if (shown[at] === 0) continue;
      let [re, im] = [0, 0];
      for (let k = 0; k < size * size; k++) {
        const [row, column] = [Math.floor(k / size), k % size];
        const [m, l] = [Math.floor(at / pixels) - pixels / 2, (at % pixels) - pixels / 2];
        const angle = (-2 * Math.PI * (row * m + column * l)) / pixels;
        const n = first + 2 * k;
        const [x, y] = [taps[n] - plan.taps[n], taps[n + 1] - plan.taps[n + 1]];
        re += x * Math.cos(angle) - y * Math.sin(angle);
        im += x * Math.sin(angle) + y * Math.cos(angle);
      }
      sum += (re * re + im * im) * correction[at];
      count++;
    }
  }
  return Math.sqrt(sum / count);
}

describe('halves chosen together', () => {
  it('are the nearest ones where nothing ties them', () => {
    const values = Float64Array.of(0.1, -0.7, 1.3, 1e-6, -3e-8, 0);
    const alone = new Float64Array(36);
    for (let n = 0; n < 6; n++) alone[7 * n] = 2;
    assert.deepEqual(roundTogether(alone, values), values.map(nearest));
  });
  it('make up for each other', () => {
    // Almost only the sum matters: L·Lᵀ = 1 + a little on the diagonal.
    const lower = Float64Array.of(1, 0, 0, 1, 0.01, 0, 1, 0.01, 0.01);
    const random = randomStream(3, 'values');
    let [together, apart] = [0, 0];
    for (let n = 0; n < 200; n++) {
      const values = Float64Array.from({ length: 3 }, () => 0.5 + 0.5 * random.uniform());
      const sumError = (rounded: Float64Array): number =>
        rounded.reduce((sum, value, at) => sum + value - values[at], 0) ** 2;
      together += sumError(roundTogether(lower, values));
      apart += sumError(values.map(nearest));
    }
    assert.ok(together < 0.5 * apart, `${together} against ${apart}`);
  });
  // The gain grows with the depth of the taper.
  for (const [size, most] of [
    [3, 0.95],
    [5, 0.75],
    [7, 0.75],
  ] as const) {
    it(`weights of ${size} × ${size} cells`, () => {
      const plan = makePlan(size);
      const rounded = roundTaps(plan);
      for (const value of rounded) assert.equal(nearest(value), value);
      const [together, apart] = [answerError(plan, rounded), answerError(plan, plan.taps.map(nearest))];
      assert.ok(together < most * apart, `${together} against ${apart}`);
    });
  }
});

describe('factors of the transform', () => {
  for (const size of [1, 5] as const) {
    it(`are near cos and sin, and nearer where ${size} × ${size} kernels see them`, () => {
      const plan = makePlan(size);
      const { turns, unscale } = halfTurns(plan, 32);
      let [together, apart] = [0, 0];
      for (let pixel = 0; pixel < 64; pixel++) {
        assert.ok(unscale[pixel] >= 1 && unscale[pixel] < 4);
        const errors = [0, 1].map(() => new Float64Array(32));
        for (let depth = 0; depth < 32; depth++) {
          const angle = (2 * Math.PI * pixel * ((depth % 16) + 0.5)) / 64;
          const exact = depth < 16 ? Math.cos(angle) : -Math.sin(angle);
          const value = fromHalfBits(turns[pixel * 32 + depth]) * Math.sqrt(unscale[pixel]);
          assert.ok(Math.abs(value - exact) < 2e-3);
          errors[0][depth] = value - exact;
          errors[1][depth] = nearest(exact) - exact;
        }
        // The response of an antenna's row of taps to the errors of neighbouring cells, cos and sin apart.
        for (let first = 0; first < plan.taps.length; first += 2 * size) {
          for (let start = 0; start + size <= 32; start++) {
            if (start < 16 && start + size > 16) continue;
            const seen = errors.map((error) => {
              let sum = 0;
              for (let k = 0; k < size; k++) sum += plan.taps[first + 2 * k] * error[start + k];
              return sum * sum;
            });
            together += seen[0];
            apart += seen[1];
          }
        }
      }
      assert.ok(together < 0.5 * apart, `${together} against ${apart}`);
    });
  }
});
