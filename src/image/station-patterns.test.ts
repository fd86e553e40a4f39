/** Kernels of stations that differ: the fit against its formula, and a single source against a plain sum. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tapsCSKK } from '../core/axes.js';
import type { Vector3 } from '../core/vector.js';
import { directImageError, planImage, type ImageOptions, type StationPatterns } from './index.js';
import { prepareKernelFitter, taper } from './kernels.js';
import { nodePatterns } from './station-patterns.js';

const axes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } };
const options = {
  size: 5,
  halfWidth: 1,
  cellWavelengths: 0.43,
  taper: 'kaiser-bessel',
  heights: 'project',
} as const;
const antenna = { rowOffset: 0.37, columnOffset: -0.21, heightWavelengths: 0.13 };
const taps = () => tapsCSKK(new Float64Array(50), 1, 1, 5);

/** Asymmetric and with phases, so that no symmetry hides errors. */
const lopsided = ({ x, y }: Vector3) => ({ re: 1 + 0.5 * x - 0.3 * y, im: 0.4 * x * y });
const ONE = { re: 1, im: 0 };
const patternOf = (kind: (direction: Vector3) => { re: number; im: number }) =>
  nodePatterns(
    { kinds: 1, weights: (_, direction) => [kind(direction)] },
    prepareKernelFitter(options).quarter,
    axes,
    1e8,
  )[0];

describe('kernels of stations of their own', () => {
  it('are those of all alike where the pattern is 1', () => {
    const fitter = prepareKernelFitter(options);
    const [alike, own] = [taps(), taps()];
    const error = fitter.fit(alike, 0, antenna);
    const ownError = fitter.fit(
      own,
      0,
      antenna,
      patternOf(() => ONE),
    );
    for (const [at, value] of alike.entries())
      assert.ok(Math.abs(own[at] - value) < 1e-9, `${own[at]} ${value}`);
    assert.ok(Math.abs(error - ownError) < 1e-7, `${error} ${ownError}`);
  });

  it('answer with the pattern all over the field, whatever its shape', () => {
    const fitter = prepareKernelFitter(options);
    const found = taps();
    const predicted = fitter.fit(found, 0, antenna, patternOf(lopsided));
    let [squared, power] = [0, 0];
    // By the formula above station-patterns.ts, at the nodes of the fit.
    for (let at = 0; at < 32 * 32; at++) {
      const [l, m] = [(2 * (at % 32) + 1) / 32 - 1, (2 * Math.floor(at / 32) + 1) / 32 - 1];
      if (l * l + m * m >= 1) continue;
      const n = Math.sqrt(1 - l * l - m * m);
      const cell = options.cellWavelengths;
      const t = taper(5, l * cell) * taper(5, m * cell);
      let [re, im] = [0, 0];
      for (let k = 0; k < 25; k++) {
        const angle = -2 * Math.PI * cell * (((k % 5) - 2) * l + (Math.floor(k / 5) - 2) * m);
        re += (found[2 * k] * Math.cos(angle) - found[2 * k + 1] * Math.sin(angle)) / t;
        im += (found[2 * k] * Math.sin(angle) + found[2 * k + 1] * Math.cos(angle)) / t;
      }
      const turn = -2 * Math.PI * (cell * (antenna.columnOffset * l + antenna.rowOffset * m) + antenna.heightWavelengths * n); // prettier-ignore
      const wanted = lopsided({ x: l, y: m, z: n });
      const [wantedRe, wantedIm] = [
        wanted.re * Math.cos(turn) - wanted.im * Math.sin(turn),
        wanted.re * Math.sin(turn) + wanted.im * Math.cos(turn),
      ];
      squared += (re - wantedRe) ** 2 + (im - wantedIm) ** 2;
      power += wanted.re ** 2 + wanted.im ** 2;
    }
    const rms = Math.sqrt(squared / power);
    assert.ok(rms < 0.02, String(rms));
    assert.ok(Math.abs(rms - predicted) < 1e-6, `${predicted} predicted where it is ${rms}`);
  });

  it('give a bound of the error of a method, and one cell is refused', () => {
    const stationsM = Array.from({ length: 20 }, (_, s) => ({ x: (7 * s) % 23, y: (11 * s) % 29, z: 0 }));
    const plan: ImageOptions = {
      pixels: 64,
      field: { kind: 'all-sky' },
      stationsM,
      axes,
      polarisations: 1,
      frequenciesHz: Float64Array.of(150e6),
      patterns: {
        kinds: 2,
        weights: (_, direction) => [ONE, lopsided(direction)],
        ofStation: stationsM.map((_, s) => s % 2),
      },
    };
    const { anywhere: error } = directImageError(planImage(plan));
    assert.ok(error < 0.02, String(error));
    // Kernels of one kind for all use other code.
    const alike: StationPatterns = { kinds: 1, weights: () => [ONE], ofStation: stationsM.map(() => 0) };
    assert.ok(directImageError({ ...planImage(plan), patterns: alike }).anywhere > 0.1);
    assert.throws(() => planImage({ ...plan, kernel: { kind: 'fitted', size: 1 } }), /one cell cannot hold/);
    assert.throws(
      () => planImage({ ...plan, patterns: { ...alike, ofStation: [0] } }),
      /1 stations of 1 kinds for 20/,
    );
  });
});
