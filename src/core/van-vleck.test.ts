import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { powerOfRounded, tail } from './rounded-noise.js';
import { VanVleck } from './van-vleck.js';

/**
 * E[q₁ q₂] by integration over the first Gaussian; given its value, the second is Gaussian too, with known
 * probabilities of each level.
 */
function meanProduct(rms: readonly [number, number], rho: number, rail: number): number {
  const [steps, far] = [20_000, 7];
  const width = (2 * far) / steps;
  const spread = rms[1] * Math.sqrt(1 - rho * rho);
  let sum = 0;
  for (let n = 0; n < steps; n++) {
    const z = -far + (n + 0.5) * width;
    const first = Math.max(-rail, Math.min(rail, Math.round(rms[0] * z)));
    if (first === 0) continue;
    const middle = rho * rms[1] * z;
    let second = 0;
    for (let k = 1; k <= rail; k++)
      second += tail((k - 0.5 - middle) / spread) - tail((k - 0.5 + middle) / spread);
    sum += Math.exp((-z * z) / 2) * first * second;
  }
  return (sum * width) / Math.sqrt(2 * Math.PI);
}

describe('van Vleck’s correction', () => {
  it('gives back rms and correlation of 4-bit noise, weak, strong, alike and opposite', () => {
    const vanVleck = new VanVleck(7);
    for (const rms of [
      [0.6, 0.6],
      [1, 2.5],
      [2.5, 2.5],
      [4, 3],
    ] as const)
      for (const rho of [0.01, 0.3, -0.7, 0.9]) {
        const squares = rms.map((one) => {
          let sum = 0;
          for (let n = 0; n < 20_000; n++) {
            const z = -8 + ((n + 0.5) * 16) / 20_000;
            sum += Math.exp((-z * z) / 2) * Math.min(7, Math.round(Math.abs(one * z))) ** 2;
          }
          return (sum * 16) / 20_000 / Math.sqrt(2 * Math.PI);
        });
        const [x, y] = squares.map((square) => vanVleck.input(square));
        assert.ok(x && y);
        assert.ok(Math.abs(x.rms / rms[0] - 1) < 5e-4, `${x.rms} of ${rms[0]}`);
        assert.ok(Math.abs(y.rms / rms[1] - 1) < 5e-4, `${y.rms} of ${rms[1]}`);
        const covariance = vanVleck.covariance(meanProduct(rms, rho, 7), x, y);
        const wanted = rho * rms[0] * rms[1];
        assert.ok(Math.abs(covariance / wanted - 1) < 2e-3, `${covariance} of ${wanted}`);
      }
  });

  it('holds for noise that is nearly or wholly the same in both', () => {
    for (const [rail, ...pairs] of [
      [7, [0.5, 0.5], [1, 1], [2.5, 2.5], [2, 3]],
      [127, [1, 1], [4, 4.5]],
    ] as const) {
      const vanVleck = new VanVleck(rail);
      for (const rms of pairs) {
        const [x, y] = rms.map((one) => vanVleck.input(powerOfRounded(one, rail)));
        assert.ok(x && y);
        for (const rho of [0.95, -0.99, 0.999]) {
          const got =
            vanVleck.covariance(meanProduct(rms, rho, Math.min(rail, 36)), x, y) / (rms[0] * rms[1]);
          assert.ok(Math.abs(got / rho - 1) < 1.5e-3, `${rail}, ${rms.join(' ')}: ${got} of ${rho}`);
        }
        if (rms[0] !== rms[1]) continue;
        const same = vanVleck.covariance(powerOfRounded(rms[0], rail), x, x) / rms[0] ** 2;
        assert.ok(Math.abs(same - 1) < 1e-4, `${rail}, ${rms[0]}: ${same} of 1`);
      }
    }
  });

  it('leaves noise of fine levels as it is, but for the twelfth of a level that rounding adds', () => {
    const vanVleck = new VanVleck(127);
    const x = vanVleck.input(20 ** 2 + 1 / 12);
    assert.ok(x);
    assert.ok(Math.abs(x.rms - 20) < 1e-4, `${x.rms}`);
    assert.ok(Math.abs(vanVleck.covariance(100, x, x) - 100) < 0.01);
  });

  it('reports nothing of silence and of what is always at the rails', () => {
    const vanVleck = new VanVleck(7);
    assert.equal(vanVleck.input(0), undefined);
    assert.equal(vanVleck.input(48.9), undefined);
  });
});
