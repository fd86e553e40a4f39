import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { tail } from '../core/rounded-noise.js';
import { kurtosisMoments, momentsOfMean, pearsonLimits, type PowerShape } from './limits.js';

const near = (value: number, wanted: number, within: number, what = ''): void => {
  assert.ok(Math.abs(value - wanted) <= within, `${what} ${value} is not ${wanted}`);
};

describe('limits of spectral kurtosis', () => {
  it('moments are those that Nita & Gary print (2010, PASP 122, 595, for one power each)', () => {
    for (const m of [24, 64, 256, 1024]) {
      const { variance, third, fourth } = kurtosisMoments(m, 1);
      const rise = (n: number): number =>
        Array.from({ length: n }, (_, k) => m + 2 + k).reduce((product, one) => product * one, 1);
      near(variance / ((4 * m ** 2) / ((m - 1) * rise(2))), 1, 1e-9);
      near(third / ((16 * m ** 3 * (5 * m - 7)) / ((m - 1) ** 2 * rise(4))), 1, 1e-7);
      const polynomial = 2 * m ** 3 + 196 * m ** 2 - 370 * m + 156;
      near(fourth / ((24 * m ** 4 * polynomial) / ((m - 1) ** 3 * rise(6))), 1, 1e-6);
    }
  });

  it('noise passes them as often as they state, of complex and of real numbers, alone and as a mean of four', () => {
    const random = randomStream(7, 'kurtosis');
    const windows = 40_000;
    for (const [spectra, shape, inputs] of [
      [32, 1, 1],
      [64, 1, 1],
      [64, 0.5, 1],
      [32, 1, 4],
    ] as const satisfies readonly (readonly [number, PowerShape, number])[]) {
      const { low, high } = pearsonLimits(momentsOfMean(kurtosisMoments(spectra, shape), inputs), 2.5);
      let [below, above] = [0, 0];
      for (let n = 0; n < windows / inputs; n++) {
        let sum = 0;
        for (let a = 0; a < inputs; a++) sum += kurtosisOf(spectra, shape, random);
        if (sum / inputs - 1 < low) below++;
        if (sum / inputs - 1 > high) above++;
      }
      const wanted = (tail(2.5) * windows) / inputs;
      // Four standard deviations of the count, and the fit's own few per cent with so few spectra.
      const within = 4 * Math.sqrt(wanted) + 0.06 * wanted;
      near(below, wanted, within, `${spectra} spectra below:`);
      near(above, wanted, within, `${spectra} spectra above:`);
    }
  });

  it('become a Gaussian’s where the windows are long', () => {
    const { low, high } = pearsonLimits(kurtosisMoments(65_536, 1), 3);
    const sigma = 2 / Math.sqrt(65_536);
    near(high / sigma, 3, 0.06);
    near(low / sigma, -3, 0.06);
  });
});

/** Directly from the estimator's formula. */
function kurtosisOf(spectra: number, shape: PowerShape, random: ReturnType<typeof randomStream>): number {
  let [s1, s2] = [0, 0];
  for (let t = 0; t < spectra; t++) {
    const power = shape === 1 ? random.gaussian() ** 2 + random.gaussian() ** 2 : random.gaussian() ** 2;
    s1 += power;
    s2 += power ** 2;
  }
  return ((spectra * shape + 1) / (spectra - 1)) * ((spectra * s2) / s1 ** 2 - 1);
}
