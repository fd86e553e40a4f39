import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planChannelise } from '../channelise/index.js';
import { all, atLeast, atMost, within } from './figure.js';
import { traceOfInverse } from './figures/gains.js';
import { digitise, tones } from './signals.js';
import { noisePower, overlapFactor } from './theory.js';

describe('a check of the qualification', () => {
  it('passes up to its limit and no further', () => {
    assert.equal(atMost('x', 2, 2).result, 'pass');
    assert.equal(atMost('x', 2.0001, 2).result, 'fail');
    assert.equal(atLeast('x', 2, 2).result, 'pass');
    assert.equal(atLeast('x', 1.9999, 2).result, 'fail');
    for (const [measured, result] of [
      [0.9, 'fail'],
      [1, 'pass'],
      [2, 'pass'],
      [2.1, 'fail'],
    ] as const)
      assert.equal(within('x', measured, 1, 2).result, result, String(measured));
  });

  it('never passes on what is no number, or on nothing at all', () => {
    assert.equal(atMost('x', NaN, 2).result, 'fail');
    assert.equal(atLeast('x', NaN, 2).result, 'fail');
    assert.equal(within('x', NaN, 1, 2).result, 'fail');
    assert.equal(all('x', 0, 0).result, 'fail');
    assert.equal(all('x', 4, 5).result, 'fail');
    assert.equal(all('x', 5, 5).result, 'pass');
    assert.equal(atMost('x', 1, 2.34567, 'dB').wanted, '≤ 2.346 dB');
  });
});

describe('what the figures are compared with', () => {
  it('the trace of an inverse, where a pivot is zero, too', () => {
    const rows = (...values: readonly (readonly number[])[]): Float64Array[] =>
      values.map((row) => Float64Array.from(row));
    assert.equal(traceOfInverse(rows([2, 0], [0, 4])), 0.75);
    // [[0, 1], [1, 0]] is its own inverse; [[1, 2], [3, 4]] has [[−2, 1], [1.5, −0.5]].
    assert.equal(traceOfInverse(rows([0, 1], [1, 0])), 0);
    assert.ok(Math.abs(traceOfInverse(rows([1, 2], [3, 4])) + 2.5) < 1e-12);
  });

  it('spectra of white noise repeat by their filter: counted out for a filter of two taps', () => {
    const plan = planChannelise({
      channels: 2,
      taps: 2,
      inputs: 1,
      polarisations: 1,
      blockSamples: 16,
      inputType: 'cf32',
      outputType: 'cf32',
    });
    const { prototype, samplesPerSpectrum: step } = plan;
    let [energy, shifted] = [0, 0];
    prototype.forEach((tap, n) => {
      energy += tap * tap;
      if (n >= step) shifted += tap * prototype[n - step];
    });
    const rho = shifted / energy;
    assert.ok(Math.abs(rho) > 1e-3, 'something repeats');
    for (const spectra of [2, 10, 1000])
      assert.ok(
        Math.abs(overlapFactor(plan, spectra) - (1 + 2 * (1 - 1 / spectra) * rho ** 2)) < 1e-12,
        String(spectra),
      );
    assert.ok(typeof plan.gains === 'number');
    assert.ok(Math.abs(noisePower(plan) / (plan.gains ** 2 * energy) - 1) < 1e-12);
  });

  it('signals: a tone turns forwards, and a converter rounds and saturates evenly', () => {
    const [re0, im0, re1, im1] = tones([0.25], 2, 3);
    for (const [found, wanted] of [
      [re0, 3],
      [im0, 0],
      [re1, 0],
      [im1, 3],
    ])
      assert.ok(Math.abs(found - wanted) < 1e-6);
    assert.deepEqual([...digitise([-400, -127.6, -0.4, 0.5, 126.5, 128])], [-127, -127, 0, 1, 127, 127]);
  });
});
