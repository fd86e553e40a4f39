import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { kurtosisMoments } from './limits.js';
import { offsetOf } from './verdicts.js';
import { ofRounded, roundedCurve } from './rounded.js';

describe('spectral kurtosis of rounded noise', () => {
  it('of fine levels is that of noise', () => {
    const { power, mean, spread } = ofRounded(16, 127, 1);
    assert.ok(Math.abs(power - 2 * (256 + 1 / 12)) < 1e-6, `${power}`);
    assert.ok(Math.abs(mean - 1) < 1e-3 && Math.abs(spread - 1) < 1e-3, `${mean} ${spread}`);
  });

  it('of a sign alone is what its two powers make it: 0, since all are the same', () => {
    assert.ok(Math.abs(ofRounded(1e6, 1, 1).mean) < 1e-5);
  });

  it('is 1 on average, and spreads as unrounded noise does, once what rounding does is taken off', () => {
    const [spectra, windows] = [128, 3000];
    const { variance } = kurtosisMoments(spectra, 1);
    for (const [type, rail, rms] of [
      ['ci4', 7, 0.7],
      ['ci4', 7, 1.2],
      ['ci4', 7, 2.5],
      ['ci4', 7, 3.3],
      ['ci8', 127, 0.8],
      ['ci8', 127, 45],
    ] as const) {
      const random = randomStream(9, `${type} ${rms}`);
      const curve = roundedCurve(type, 1);
      const level = (): number => Math.max(-rail, Math.min(rail, Math.round(rms * random.gaussian())));
      let [sum, squares] = [0, 0];
      for (let w = 0; w < windows; w++) {
        const sums = new Float64Array(2);
        for (let t = 0; t < spectra; t++) {
          const power = level() ** 2 + level() ** 2;
          sums[0] += power;
          sums[1] += power ** 2;
        }
        const off = offsetOf(sums[0], sums[1], spectra, 1, curve);
        sum += off;
        squares += off ** 2;
      }
      const mean = sum / windows;
      const sigma = Math.sqrt(variance);
      assert.ok(
        Math.abs(mean) < 5 * (sigma / Math.sqrt(windows)) + 0.005,
        `${type} of rms ${rms}: mean ${mean}`,
      );
      const spread = Math.sqrt(squares / windows) / sigma;
      assert.ok(Math.abs(spread - 1) < 0.1, `${type} of rms ${rms}: spread ${spread}`);
    }
  });

  it('says nothing of what is nearly all zeros', () => {
    const curve = roundedCurve('ci8', 1);
    assert.ok(Number.isNaN(offsetOf(10, 10, 256, 1, curve)));
    assert.ok(Number.isNaN(offsetOf(0, 0, 256, 1, undefined)));
  });
});
