import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { besselI0, ownFilter, prototypeFilter, roundTaps, type FilterWindow } from './filter.js';

const near = (actual: number, expected: number, tolerance: number): void => {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual}, not ${expected} ± ${tolerance}`);
};
const shape = (taps: number, samplesPerSpectrum: number, window: FilterWindow) =>
  ({ taps, samplesPerSpectrum, window, passbandChannels: 1 }) as const;

describe('prototype filter', () => {
  it('one rectangular tap is the plain mean', () => {
    assert.deepEqual([...prototypeFilter(shape(1, 4, { kind: 'rectangular' }))], [0.25, 0.25, 0.25, 0.25]);
  });

  it('two taps of two samples, by hand', () => {
    // n − 1.5 = −1.5, −0.5, 0.5, 1.5, over P = 2: sinc(0.75) = sin(3π/4)/(3π/4) = 0.300105, sinc(0.25) = 0.900316
    const rectangular = prototypeFilter(shape(2, 2, { kind: 'rectangular' }));
    const [outer, inner] = [Math.SQRT1_2 / (0.75 * Math.PI), Math.SQRT1_2 / (0.25 * Math.PI)];
    const sum = 2 * (outer + inner);
    [outer, inner, inner, outer].forEach((value, n) => {
      near(rectangular[n], value / sum, 1e-15);
    });
    // Hann at x = ±3/4, ±1/4: (1 + cos(3π/4))/2 = 0.146447, (1 + cos(π/4))/2 = 0.853553
    const hann = prototypeFilter(shape(2, 2, { kind: 'hann' }));
    const [hannOuter, hannInner] = [0.1464466094067262 * outer, 0.8535533905932737 * inner];
    [hannOuter, hannInner, hannInner, hannOuter].forEach((value, n) => {
      near(hann[n], value / (2 * (hannOuter + hannInner)), 1e-15);
    });
  });

  it('windows have their textbook values at the middle and the end', () => {
    // One tap of 1001 samples is the window itself; its ends lie at x = ±1000/1001.
    const ends: readonly [FilterWindow, number][] = [
      [{ kind: 'hann' }, 0],
      [{ kind: 'hamming' }, 0.08],
      [{ kind: 'blackman' }, 0],
      [{ kind: 'kaiser', beta: 8.6 }, 1 / besselI0(8.6)],
    ];
    for (const [window, end] of ends) {
      const taps = prototypeFilter(shape(1, 1001, window));
      near(taps[0] / taps[500], end, 2e-4);
    }
    // I₀(1) = 1.2660658777520084, I₀(10) = 2815.716628466254 (Abramowitz and Stegun, table 9.8)
    near(besselI0(1), 1.2660658777520084, 1e-15);
    near(besselI0(10) / 2815.716628466254, 1, 1e-14);
    assert.equal(besselI0(0), 1);
    const flat = prototypeFilter(shape(3, 5, { kind: 'kaiser', beta: 0 }));
    const rectangular = prototypeFilter(shape(3, 5, { kind: 'rectangular' }));
    flat.forEach((tap, n) => {
      near(tap, rectangular[n], 1e-16);
    });
  });

  it('is symmetric with a sum of one, whatever the window', () => {
    for (const kind of ['rectangular', 'hann', 'hamming', 'blackman'] as const) {
      for (const [taps, samples] of [
        [1, 2],
        [4, 7],
        [8, 16],
      ]) {
        const h = prototypeFilter(shape(taps, samples, { kind }));
        near(
          h.reduce((sum, tap) => sum + tap, 0),
          1,
          1e-14,
        );
        h.forEach((tap, n) => {
          near(tap, h[h.length - 1 - n], 1e-15);
        });
      }
    }
  });

  it('rounds taps once, the largest to 32767', () => {
    const { taps, scale } = roundTaps(Float64Array.from([0.5, -1, 0.25, 0]));
    // 0.5·32767 = 16383.5 rounds up, 0.25·32767 = 8191.75 too
    assert.deepEqual([...taps], [16384, -32767, 8192, 0]);
    assert.equal(scale, 1 / 32767);
    // The largest fills all 15 bits, however small or large it was.
    for (const largest of [2 ** -20, 3000]) {
      const rounded = roundTaps(Float64Array.from([largest / 4, largest, -largest]));
      assert.deepEqual([...rounded.taps], [8192, 32767, -32767]);
      assert.equal(rounded.scale, largest / 32767);
    }
  });

  it("takes the user's own as they are, and refuses what cannot be a filter", () => {
    const own = Float64Array.from([1, -2, 3, 4]);
    assert.deepEqual(ownFilter(own, 2, 2), own);
    assert.notEqual(ownFilter(own, 2, 2), own);
    assert.throws(() => ownFilter(own, 3, 2), /4 coefficients .* need 6/);
    assert.throws(() => ownFilter(Float64Array.from([1, NaN]), 1, 2), /coefficient 1 is NaN/);
    assert.throws(() => ownFilter(new Float64Array(2), 1, 2), /every coefficient is zero/);
    assert.throws(() => prototypeFilter(shape(2, 2, { kind: 'kaiser', beta: -1 })), /beta is -1/);
  });
});
