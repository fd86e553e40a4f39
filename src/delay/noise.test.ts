import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planFft } from '../core/fft.js';
import { randomStream } from '../core/random.js';
import { NoiseSolver } from './noise.js';

/** Samples at 1 kHz; a common signal of given coherence, delayed by `lags` and rotated by `phases`. */
function noise(options: {
  readonly lags: readonly number[];
  readonly phasesDeg: readonly number[];
  readonly coherence: number;
  readonly samples: number;
}): Float32Array {
  const { lags, phasesDeg, coherence, samples } = options;
  const fft = planFft(samples);
  const common = new Float64Array(2 * samples);
  randomStream(1, 'common').addGaussians(common, 1);
  fft.forward(common);
  const all = new Float32Array(2 * samples * lags.length);
  lags.forEach((lag, a) => {
    const turned = new Float64Array(2 * samples);
    for (let k = 0; k < samples; k++) {
      const f = (k < samples / 2 ? k : k - samples) / samples;
      const angle = (phasesDeg[a] * Math.PI) / 180 - 2 * Math.PI * f * lag;
      const [c, s] = [Math.cos(angle) / samples, Math.sin(angle) / samples];
      turned[2 * k] = common[2 * k] * c - common[2 * k + 1] * s;
      turned[2 * k + 1] = common[2 * k] * s + common[2 * k + 1] * c;
    }
    fft.inverse(turned);
    const own = new Float64Array(2 * samples);
    randomStream(2, 'own', a).addGaussians(own, Math.sqrt(1 - coherence));
    for (let n = 0; n < own.length; n++) all[2 * samples * a + n] = Math.sqrt(coherence) * turned[n] + own[n];
  });
  return all;
}

describe('delays and phases from a noise source', () => {
  it('of three samples by hand: two late, turned by 90°', () => {
    const samples = 64;
    const first = new Float64Array(2 * samples);
    randomStream(3).addGaussians(first, 1);
    const voltages = new Float32Array(4 * samples);
    voltages.set(first);
    // y[t] = i · x[t − 2], cyclic, like a segment's correlation.
    for (let t = 0; t < samples; t++) {
      const from = (t + samples - 2) % samples;
      voltages[2 * (samples + t)] = -first[2 * from + 1];
      voltages[2 * (samples + t) + 1] = first[2 * from];
    }
    const solver = new NoiseSolver(2, samples);
    solver.add(voltages, samples);
    const [, { lagSamples, phaseDeg, coherence, powerRatio }] = solver.solve()?.channels ?? [];
    assert.ok(Math.abs(lagSamples - 2) < 1e-6, String(lagSamples));
    assert.ok(Math.abs(phaseDeg - 90) < 1e-4, String(phaseDeg));
    assert.ok(Math.abs(coherence - 1) < 1e-6 && Math.abs(powerRatio - 1) < 1e-6);
  });

  it('within 0.01 sample and 1° from 15 minutes at a signal to noise of 10 in a second', () => {
    const truth = { lags: [0, 0.37, -12.81, 3.5], phasesDeg: [0, 35, -120, 179] };
    // ρ √1000 = 10 in a second of 1000 samples.
    const coherence = 10 / Math.sqrt(1000);
    const solver = new NoiseSolver(4, 2 ** 15);
    // 27 time ranges of 2¹⁵ samples: 885 s.
    const samples = 27 * 2 ** 15;
    const voltages = noise({ ...truth, coherence, samples });
    const frame = new Float32Array(2 * 4 * 2 ** 15);
    for (let from = 0; from < samples; from += 2 ** 15) {
      for (let a = 0; a < 4; a++)
        frame.set(
          voltages.subarray(2 * (a * samples + from), 2 * (a * samples + from + 2 ** 15)),
          2 * a * 2 ** 15,
        );
      solver.add(frame, 2 ** 15);
    }
    const solution = solver.solve();
    solution?.channels.forEach((channel, a) => {
      const lagError = channel.lagSamples - truth.lags[a];
      const phaseError = ((channel.phaseDeg - truth.phasesDeg[a] + 540) % 360) - 180;
      assert.ok(Math.abs(lagError) < 0.01, `channel ${a}: ${lagError} samples`);
      assert.ok(Math.abs(phaseError) < 1, `channel ${a}: ${phaseError}°`);
      if (a === 0) return;
      // The reported errors are right: within 5 σ, and no larger than expected.
      assert.ok(Math.abs(lagError) < 5 * channel.lagErrorSamples && channel.lagErrorSamples < 0.005);
      assert.ok(Math.abs(phaseError) < 5 * channel.phaseErrorDeg && channel.phaseErrorDeg < 0.5);
    });
  });

  it('of channels with nothing in common are not made up', () => {
    const samples = 2 ** 14;
    const own = new Float64Array(4 * samples);
    randomStream(5).addGaussians(own, 1);
    const solver = new NoiseSolver(2, samples);
    solver.add(Float32Array.from(own), samples);
    const [, channel] = solver.solve()?.channels ?? [];
    assert.ok(Number.isNaN(channel.lagSamples) && Number.isNaN(channel.phaseDeg));
    assert.ok(channel.signalToNoise < 6);
  });
});
