/** The errors of full polarisation against the least possible for any solver: the Cramér–Rao bound. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { loadNative } from '../../backend/cpu/library.js';
import { openReference } from '../../backend/reference.js';
import type { Backend } from '../../backend/backend.js';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { adjoint, timesMatrix } from '../../core/jones.js';
import { randomStream } from '../../core/random.js';
import { planCalibration, prepareFullCalibrator } from '../index.js';
import { fullSample } from './cases.js';

const STATIONS = 8;
const NOISE_JY = 1;

/** The same array and gains in every channel, with different noise in each. */
async function meanSquareError(
  backend: Backend,
  channels: number,
): Promise<{ square: number; bound: number }> {
  const one = fullSample({ seed: 11, stations: STATIONS, channels: 1 });
  const { truth, input } = one;
  // Relative to the phase of station 0, like the solver's.
  const phase = Math.atan2(truth[1], truth[0]);
  const back = [Math.cos(phase), -Math.sin(phase), 0, 0, 0, 0, Math.cos(phase), -Math.sin(phase)];
  const gains = Array.from({ length: STATIONS }, (_, s) =>
    timesMatrix(truth.subarray(8 * s, 8 * s + 8), back),
  );
  const baselines = baselineCount(STATIONS);
  const random = randomStream(12, 'bound');
  const values = new Float64Array(8 * channels * baselines);
  const model = new Float64Array(8 * channels * baselines);
  for (let c = 0; c < channels; c++) {
    model.set(input.model, 8 * c * baselines);
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j < i; j++) {
        const b = baselineIndex(i, j);
        const seen = timesMatrix(timesMatrix(gains[i], input.model.subarray(8 * b, 8 * b + 8)), adjoint(gains[j])); // prettier-ignore
        for (let n = 0; n < 8; n++)
          values[8 * (c * baselines + b) + n] = seen[n] + NOISE_JY * random.gaussian();
      }
  }
  const plan = planCalibration({ stations: STATIONS, channels, polarisations: 2, referenceStation: 0 });
  const calibrator = await prepareFullCalibrator(plan, backend);
  const found = await calibrator.solve({
    visibilities: visibilitiesCBPP(values, channels, baselines, 2),
    counts: countsCB(new Float64Array(channels * baselines).fill(1), channels, baselines),
    flaggedInputs: new Uint8Array(2 * STATIONS),
    model: visibilitiesCBPP(model, channels, baselines, 2),
  });
  await calibrator.close();
  assert.ok(found.solutions.every(({ converged }) => converged));
  let square = 0;
  for (let c = 0; c < channels; c++)
    for (let s = 0; s < STATIONS; s++) {
      const at = 4 * (c * STATIONS + s);
      const [own, across] = [found.gains.subarray(at, at + 4), found.leakage.subarray(at, at + 4)];
      const matrix = [...own.subarray(0, 2), ...across, ...own.subarray(2, 4)];
      matrix.forEach((value, n) => (square += (value - gains[s][n]) ** 2 / channels));
    }
  return { square, bound: boundOf(gains, input.model) };
}

/**
 * Trace of the inverse of Fisher's information over all numbers of all matrices, with the reference's Im g_XX known; by
 * differences.
 */
function boundOf(gains: readonly Float64Array[], model: Float64Array): number {
  const parameters = Array.from({ length: 8 * STATIONS }, (_, n) => n).filter((n) => n !== 1);
  const seen = (all: readonly Float64Array[]): number[] => {
    const numbers: number[] = [];
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j < i; j++) {
        const b = baselineIndex(i, j);
        numbers.push(...timesMatrix(timesMatrix(all[i], model.subarray(8 * b, 8 * b + 8)), adjoint(all[j])));
      }
    return numbers;
  };
  const step = 1e-5;
  const slopes = parameters.map((n) => {
    const moved = (by: number): number[] =>
      seen(
        gains.map((one, s) =>
          s === Math.floor(n / 8) ? one.map((x, k) => (k === n % 8 ? x + by : x)) : one,
        ),
      );
    const [up, down] = [moved(step), moved(-step)];
    return up.map((value, k) => (value - down[k]) / (2 * step));
  });
  const information = slopes.map((x) =>
    Float64Array.from(slopes, (y) => x.reduce((sum, value, k) => sum + value * y[k], 0) / NOISE_JY ** 2),
  );
  return traceOfInverse(information);
}

/** By Gauss–Jordan elimination, for a positive definite matrix. */
function traceOfInverse(matrix: readonly Float64Array[]): number {
  const size = matrix.length;
  const rows = matrix.map((row, r) =>
    Float64Array.from({ length: 2 * size }, (_, k) => (k < size ? row[k] : k - size === r ? 1 : 0)),
  );
  for (let k = 0; k < size; k++) {
    const pivot = rows[k][k];
    assert.ok(pivot > 1e-9);
    for (let n = 0; n < 2 * size; n++) rows[k][n] /= pivot;
    for (let r = 0; r < size; r++) {
      const factor = rows[r][k];
      if (r === k || factor === 0) continue;
      for (let n = 0; n < 2 * size; n++) rows[r][n] -= factor * rows[k][n];
    }
  }
  return rows.reduce((sum, row, k) => sum + row[size + k], 0);
}

describe('full polarisation has the least errors there can be', () => {
  const library = loadNative();
  it('on the reference', async () => {
    const { square, bound } = await meanSquareError(openReference(), 40);
    // 40 channels of 63 numbers: the mean scatters by 3 %, and neighbours are correlated.
    assert.ok(Math.abs(square / bound - 1) < 0.12, `mean |δG|² is ${square / bound} of the bound`);
  });
  it('on the processor', { skip: 'what' in library ? library.what : false }, async () => {
    const cpu = await openCpu({ threads: 2 });
    const { square, bound } = await meanSquareError(cpu, 400);
    await cpu.close();
    assert.ok(Math.abs(square / bound - 1) < 0.05, `mean |δG|² is ${square / bound} of the bound`);
  });
});
