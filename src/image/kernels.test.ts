import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tapsCSKK } from '../core/axes.js';
import { prepareKernelFitter, taper, type FitterOptions } from './kernels.js';
import { setPhasor } from './phasor.js';
import type { AntennaOffset } from './projection.js';

const NODES = 32;

/** The residual of an antenna's weights over the whole field, by the formula above kernels.ts. */
function residuals(
  options: FitterOptions,
  taps: Float64Array,
  antenna: AntennaOffset,
  heights: FitterOptions['heights'],
): { rms: number; gradient: number } {
  const { size, halfWidth, cellWavelengths } = options;
  const middle = (size - 1) / 2;
  const gradient = new Float64Array(2 * size * size);
  let squared = 0;
  let shown = 0;
  let weights = 0;
  for (let at = 0; at < NODES * NODES; at++) {
    const m = halfWidth * ((2 * Math.floor(at / NODES) + 1) / NODES - 1);
    const l = halfWidth * ((2 * (at % NODES) + 1) / NODES - 1);
    if (l * l + m * m >= 1) continue;
    shown++;
    const t =
      options.taper === 'none' ? 1 : taper(size, l * cellWavelengths) * taper(size, m * cellWavelengths);
    weights += 1 / t ** 2;
    const n = heights === 'project' ? Math.sqrt(1 - l * l - m * m) : 1;
    const turns =
      (antenna.columnOffset * l + antenna.rowOffset * m) * cellWavelengths + antenna.heightWavelengths * n;
    let re = -Math.cos(2 * Math.PI * turns);
    let im = Math.sin(2 * Math.PI * turns);
    const angles = Array.from(
      { length: size * size },
      (_, k) =>
        2 * Math.PI * (((k % size) - middle) * l + (Math.floor(k / size) - middle) * m) * cellWavelengths,
    );
    for (const [k, angle] of angles.entries()) {
      re += (taps[2 * k] * Math.cos(angle) + taps[2 * k + 1] * Math.sin(angle)) / t;
      im += (taps[2 * k + 1] * Math.cos(angle) - taps[2 * k] * Math.sin(angle)) / t;
    }
    squared += re * re + im * im;
    for (const [k, angle] of angles.entries()) {
      gradient[2 * k] += (re * Math.cos(angle) - im * Math.sin(angle)) / t;
      gradient[2 * k + 1] += (im * Math.cos(angle) + re * Math.sin(angle)) / t;
    }
  }
  return {
    rms: Math.sqrt(squared / shown),
    gradient: gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / weights,
  };
}

describe('kernel fit', () => {
  const antennas: AntennaOffset[] = [
    { rowOffset: 0, columnOffset: 0, heightWavelengths: 0 },
    { rowOffset: 0.37, columnOffset: -0.21, heightWavelengths: 0 },
    { rowOffset: -0.5, columnOffset: 0.44, heightWavelengths: 0.7 },
    { rowOffset: 0.12, columnOffset: 0.5, heightWavelengths: -3.3 },
  ];
  for (const size of [3, 5, 7]) {
    for (const heights of ['project', 'phase-centre'] as const) {
      for (const halfWidth of [1, 0.8, 0.1]) {
        it(`is the least-squares one: K = ${size}, half width ${halfWidth}, heights ${heights}`, () => {
          const options: FitterOptions = {
            size,
            halfWidth,
            heights,
            cellWavelengths: 1 / (2 * 1.15 * halfWidth),
            taper: 'kaiser-bessel',
          };
          const fitter = prepareKernelFitter(options);
          for (const antenna of antennas) {
            const taps = tapsCSKK(new Float64Array(4 * size * size).fill(NaN), 1, 2, size);
            const error = fitter.fit(taps, size * size, antenna);
            const own = taps.subarray(2 * size * size);
            // The error of the taps is this over the sum of the weights 1/t²: rounding, some 1e-16 for each of 49.
            assert.ok(residuals(options, own, antenna, heights).gradient < 1e-14);
            // The squared error is 1 less sums whose terms reach 10⁴ at the corners: 1e-16 of those.
            const { rms } = residuals(options, own, antenna, 'project');
            assert.ok(Math.abs(error ** 2 - rms ** 2) < 1e-11, `${error} ${rms}`);
            assert.ok(Math.abs(fitter.error(taps, size * size, antenna) ** 2 - rms ** 2) < 1e-11);
            assert.ok(taps.subarray(0, 2 * size * size).every(Number.isNaN));
          }
        });
      }
    }
  }
  it('reports the error of weights that are no fit', () => {
    const options: FitterOptions = {
      size: 3,
      halfWidth: 1,
      heights: 'project',
      cellWavelengths: 1 / 2.3,
      taper: 'none',
    };
    const taps = tapsCSKK(
      Float64Array.from({ length: 18 }, (_, at) => Math.sin(at + 1)),
      1,
      1,
      3,
    );
    const error = prepareKernelFitter(options).error(taps, 0, antennas[2]);
    assert.ok(Math.abs(error - residuals(options, taps, antennas[2], 'project').rms) < 1e-12);
  });
});

describe('phasor', () => {
  it('is e^(2πi·turns)', () => {
    const phasor = new Float64Array(4).fill(NaN);
    for (let turns = -3.2; turns < 3.2; turns += 0.00137) {
      setPhasor(phasor, 1, turns);
      assert.ok(Math.abs(phasor[2] - Math.cos(2 * Math.PI * turns)) < 5e-15);
      assert.ok(Math.abs(phasor[3] - Math.sin(2 * Math.PI * turns)) < 5e-15);
    }
    assert.ok(Number.isNaN(phasor[0]) && Number.isNaN(phasor[1]));
  });
});
