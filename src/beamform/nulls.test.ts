import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { nullDepths, nulledWeights, taperEfficiency } from './nulls.js';
import { inverseGains } from './weights.js';

const ones = (length: number): Float64Array => new Float64Array(length).fill(1);

describe('weights with nulls', () => {
  it('two stations and a null a quarter of a turn away, by hand', () => {
    const frequenciesHz = Float64Array.of(100e6);
    const options = { stations: 2, polarisations: 1, beams: 1, frequenciesHz, factors: ones(2) } as const;
    const gains = inverseGains(undefined, Uint8Array.of(1, 1));
    const { weights, efficiency } = nulledWeights(
      ...([options, Float64Array.of(0, 0), Float64Array.of(0, -2.5e-9), gains] as const),
    );
    // The null is n = (1, i): (1, 1) − n·(1 − i)/2 = ((1 + i)/2, (1 − i)/2), whose sum is 1 and becomes 2.
    for (const [n, wanted] of [1, 1, 1, -1].entries()) assert.ok(Math.abs(weights[n] - wanted) < 1e-6);
    // 2² / (2 · 4)
    assert.ok(Math.abs(efficiency[0] - 0.5) < 1e-9);
  });

  it('a taper by hand', () => {
    // (1 + ½)² / (2 · 1¼); of the second channel one station is left.
    const efficiency = taperEfficiency(Float64Array.of(1, 0.5), Uint8Array.of(1, 1), 1);
    assert.equal(efficiency, 0.9);
    assert.equal(taperEfficiency(Float64Array.of(1, 0.5), Uint8Array.of(1, 0), 1), 1);
  });

  const [stations, polarisations, beams, channels] = [20, 2, 3, 70] as const;
  const inputs = stations * polarisations;
  const random = randomStream(3, 'nulls');
  const frequenciesHz = Float64Array.from({ length: channels }, (_, c) => 60e6 + c * 400e3);
  const delays = (places: number): Float64Array =>
    Float64Array.from({ length: places * stations }, () => 100e-9 * random.gaussian());
  const [delaysS, nullsS] = [delays(beams), delays(2)];
  // The third null equals the first: nothing is left to remove.
  const threeS = Float64Array.of(...nullsS, ...nullsS.subarray(0, stations));
  const gains = Float64Array.from({ length: 2 * channels * inputs }, () => random.gaussian());
  const factors = Float64Array.from({ length: inputs }, (_, a) => 1 / (1 + (a >> 1) / 10));
  // Y of station 4 is left out; in channel 7 all but two X.
  const used = Uint8Array.from({ length: channels * inputs }, (_, n) => {
    const [c, a] = [Math.floor(n / inputs), n % inputs];
    return a === 9 || (c === 7 && a % 2 === 0 && a > 2) ? 0 : 1;
  });
  const inverse = inverseGains(gains, used, factors);
  const options = { stations, polarisations, beams, frequenciesHz, factors };
  const { weights, efficiency } = nulledWeights(options, delaysS, threeS, inverse);

  /** Σ_s w·g·e^(2πi f d): a wave of amplitude 1 from there. */
  const response = (of: Float64Array, n: number, c: number, b: number, p: number, offHz = 0) => {
    let [re, im] = [0, 0];
    for (let s = 0; s < stations; s++) {
      const a = s * polarisations + p;
      const angle = 2 * Math.PI * (frequenciesHz[c] + offHz) * of[n * stations + s];
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const [gr, gi] = [gains[2 * (c * inputs + a)], gains[2 * (c * inputs + a) + 1]];
      const [xr, xi] = [gr * cos - gi * sin, gr * sin + gi * cos];
      const w = 2 * ((c * beams + b) * inputs + a);
      re += weights[w] * xr - weights[w + 1] * xi;
      im += weights[w] * xi + weights[w + 1] * xr;
    }
    return { re, im, power: re * re + im * im };
  };

  it('receive nothing from the nulls and everything from their own place, over the band', () => {
    let least = 1;
    for (let c = 0; c < channels; c++)
      for (let b = 0; b < beams; b++)
        for (let p = 0; p < polarisations; p++) {
          const isFew = c === 7 && p === 0;
          const main = response(delaysS, b, c, b, p);
          let [total, noise, many] = [0, 0, 0];
          for (let a = p; a < inputs; a += polarisations) {
            if (used[c * inputs + a] === 0) continue;
            many++;
            total += factors[a];
            const [w, g] = [2 * ((c * beams + b) * inputs + a), 2 * (c * inputs + a)];
            noise += Math.hypot(weights[w], weights[w + 1]) ** 2 * Math.hypot(gains[g], gains[g + 1]) ** 2;
          }
          if (isFew) {
            // Two stations and two nulls: no weights are left.
            assert.equal(main.power, 0);
            continue;
          }
          assert.ok(Math.abs(main.re - total) < 1e-5 * total && Math.abs(main.im) < 1e-5 * total);
          least = Math.min(least, total ** 2 / (many * noise));
          for (let k = 0; k < 2; k++) {
            const { power } = response(nullsS, k, c, b, p);
            assert.ok(power < 1e-11 * main.power, `channel ${c}, beam ${b}: ${power / main.power}`);
          }
        }
    assert.ok(least > 0.5 && least < 1);
    assert.deepEqual([...efficiency], [0, 0, 0]);
    // Without the channel that has too few.
    const whole = used.map((one, n) => (Math.floor(n / inputs) === 7 ? Number(n % inputs !== 9) : one));
    const made = nulledWeights(options, delaysS, threeS, inverseGains(gains, whole, factors));
    assert.ok(
      Math.min(...made.efficiency) <= least * (1 + 1e-6) && Math.min(...made.efficiency) > 0.9 * least,
    );
  });

  it('are as deep as direct sums of them, a moment later and over the width of a channel', () => {
    // A sky that has rotated by up to a hundredth of a turn, and channels with remaining delays.
    const moved = (of: Float64Array): Float64Array => of.map((one, n) => one + ((n * 7) % 5) * 3e-11);
    const towards = (of: Float64Array) => ({ delaysS: moved(of), leftS: moved(of) });
    const width = 100e3;
    const few = { ...options, frequenciesHz: frequenciesHz.subarray(8, 16) };
    const part = (of: Float64Array): Float64Array => of.slice(2 * 8 * inputs, 2 * 16 * inputs);
    const depths = nullDepths(
      ...([few, width, towards(delaysS), towards(nullsS)] as const),
      { ...inverse, inverse: part(inverse.inverse) },
      weights.slice(2 * 8 * beams * inputs, 2 * 16 * beams * inputs),
    );
    for (let b = 0; b < beams; b++) {
      let worst = 0;
      for (let c = 8; c < 16; c++)
        for (let p = 0; p < polarisations; p++)
          for (let k = 0; k < 2; k++) {
            const mean = (of: Float64Array, n: number): number => {
              let sum = 0;
              for (let i = 0; i < 101; i++)
                sum += response(moved(of), n, c, b, p, ((i - 50) / 100) * width).power / 101;
              return sum;
            };
            worst = Math.max(worst, mean(nullsS, k) / mean(delaysS, b));
          }
      assert.ok(Math.abs(depths[b] / worst - 1) < 0.05, `${depths[b]}, not ${worst}`);
      assert.ok(worst > 1e-6 && worst < 1e-2, String(worst));
    }
  });
});
