import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasOf, fitTaps, kernelValue, liftOf, prepareTransform, tapValue } from './kernel.js';
import { kernelTable } from './kernel-table.js';

describe('gridding kernels', () => {
  it('the transform is the integral of the kernel', () => {
    const kernel = { support: 6, steepness: 10.9, exponent: 0.53 };
    const transform = prepareTransform(kernel);
    for (const xi of [0, 0.2, 0.37]) {
      let sum = 0;
      const steps = 60_000;
      for (let n = 0; n < steps; n++) {
        const x = -3 + (6 * (n + 0.5)) / steps;
        sum += (kernelValue(kernel, x) * Math.cos(2 * Math.PI * xi * x) * 6) / steps;
      }
      assert.ok(Math.abs(transform(xi) - sum) < 1e-9);
    }
    assert.equal(kernelValue(kernel, 0), 1);
    assert.equal(kernelValue(kernel, 3.01), 0);
    // (1 − (2·1.5/6)²)^0.53 = 0.75^0.53 = 0.85858…, exp(10.9·(0.85858… − 1)) = 0.214…
    assert.ok(Math.abs(kernelValue(kernel, 1.5) - Math.exp(10.9 * (0.75 ** 0.53 - 1))) < 1e-15);
  });

  it('the table states what its kernels do', () => {
    for (const row of kernelTable) {
      const alias = aliasOf(row, row.oversampling);
      assert.ok(Math.abs(alias / row.alias - 1) < 0.02, `W ${row.support} σ ${row.oversampling}: ${alias}`);
      const lift = liftOf(row, row.oversampling);
      assert.ok(Math.abs(lift - row.lift) < 0.06, `W ${row.support} σ ${row.oversampling}: ${lift}`);
    }
  });

  it('no kernel nearby does better', () => {
    for (const row of kernelTable.filter(({ oversampling }) => oversampling === 1.5 || oversampling === 2)) {
      for (const [dSteepness, dExponent] of [
        [-0.3, 0],
        [0.3, 0],
        [0, -0.008],
        [0, 0.008],
      ]) {
        const other = { ...row, steepness: row.steepness + dSteepness, exponent: row.exponent + dExponent };
        assert.ok(
          aliasOf(other, row.oversampling) > 0.97 * row.alias,
          `W ${row.support} σ ${row.oversampling}`,
        );
      }
    }
  });

  it('polynomials follow the taps as closely as asked for', () => {
    const row = kernelTable.find(({ support, oversampling }) => support === 7 && oversampling === 1.5);
    assert.ok(row);
    for (const error of [1e-3, 1e-6]) {
      const taps = fitTaps(row, row.oversampling, error);
      let sum = 0;
      for (let tap = 0; tap < 7; tap++) {
        for (let step = 0; step < 50; step++) {
          const f = (step + 0.5) / 50;
          sum += (tapValue(taps, tap, 2 * f - 1) - kernelValue(row, -3.5 + f + tap)) ** 2 / 50;
        }
      }
      assert.ok(Math.sqrt(sum) < 1.1 * error * prepareTransform(row)(0.5 / 1.5), `degree ${taps.degree}`);
    }
    assert.ok(fitTaps(row, 1.5, 1e-6).degree > fitTaps(row, 1.5, 1e-3).degree);
  });
});
