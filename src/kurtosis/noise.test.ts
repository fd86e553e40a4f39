import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kurtosisMoments } from './limits.js';
import { noiseTable, realNoise, roundedNoise } from './noise.js';

describe('noise that was rounded', () => {
  it('to fine levels is noise of real numbers', () => {
    const { power, mean, second, third, fourth } = roundedNoise(16, 127, 1);
    const real = realNoise(1);
    assert.ok(Math.abs(power - 2 * (256 + 1 / 12)) < 1e-6, `${power}`);
    assert.ok(Math.abs(mean - 1) < 1e-3);
    for (const ratio of [second / real.second, third / real.third, fourth / real.fourth])
      assert.ok(Math.abs(ratio - 1) < 1e-2, `${ratio}`);
  });

  it('to a sign alone has one power: a kurtosis of 0, and no spread', () => {
    const { mean, second } = roundedNoise(1e6, 1, 1);
    assert.ok(Math.abs(mean) < 1e-5 && Math.abs(second) < 1e-5, `${mean} ${second}`);
  });

  it('of real numbers has the cumulants of powers, and the next order of their exact moments', () => {
    for (const shape of [1, 0.5] as const) {
      const { mean, meanPer, second, secondPer } = realNoise(shape);
      const m = 1e4;
      const factor = (m * shape + 1) / (m - 1);
      assert.ok(Math.abs(factor * (mean + meanPer / m) - 1) < 1e-6);
      const variance = (factor ** 2 * second * (1 + secondPer / m)) / m;
      assert.ok(Math.abs(variance / kurtosisMoments(m, shape).variance - 1) < 1e-5);
    }
  });

  it('is not tested where nearly all is zeros, and has the limits of strong noise beyond that', () => {
    const { head, entries } = noiseTable('ci8', 1, 3, 256);
    const [, leastPower] = head;
    // Half a level rms: P(|q| ≥ 1) = 0.317 of either part.
    assert.ok(Math.abs(leastPower - 0.65) < 0.01, `${leastPower}`);
    assert.ok(entries.length > 4 * 32 * 12);
    assert.equal(noiseTable('cf32', 1, 3, 256).entries.length, 4);
  });
});
