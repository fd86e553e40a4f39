/** A single source over noisy receivers, by formula: every input receives the same signal with its own gain. */
import type { Integration } from '../core/blocks.js';
import { randomStream } from '../core/random.js';
import { correlateSamples } from './engines.js';
import type { Rig } from './figure.js';
import { noise, voltagesOf } from './signals.js';
import { overlapFactor } from './theory.js';

export const STATIONS = 16;
export const CHANNELS = 32;
const TAPS = 8;
/** Source power relative to each receiver's noise: weak, as in reality, so that baselines have independent noise. */
export const SOURCE_POWER = 0.1;

export interface Observation {
  readonly integration: Integration;
  /** truth : [a] complex, the same in all channels. */
  readonly truth: Float64Array;
  /** Independent samples per visibility. */
  readonly samples: number;
}

/** x_a = g_a · s + n_a, s of power `SOURCE_POWER`, n of power 1 in each input. */
export async function observe({ backend, quick }: Rig): Promise<Observation> {
  const spectra = quick ? 4096 : 16_384;
  const samples = CHANNELS * (spectra + TAPS - 1);
  const random = randomStream(3, 'gains');
  const truth = new Float64Array(2 * STATIONS);
  for (let a = 0; a < STATIONS; a++) {
    const amplitude = Math.exp(0.15 * random.gaussian());
    const phase = 2 * Math.PI * random.uniform();
    truth[2 * a] = amplitude * Math.cos(phase);
    truth[2 * a + 1] = amplitude * Math.sin(phase);
  }
  const signal = noise(2 * samples, Math.sqrt(SOURCE_POWER / 2), 'source');
  const voltages = noise(2 * samples * STATIONS, Math.SQRT1_2, 'receivers');
  for (let a = 0; a < STATIONS; a++) {
    const [re, im] = [truth[2 * a], truth[2 * a + 1]];
    for (let t = 0; t < samples; t++) {
      const at = 2 * (a * samples + t);
      voltages[at] += re * signal[2 * t] - im * signal[2 * t + 1];
      voltages[at + 1] += re * signal[2 * t + 1] + im * signal[2 * t];
    }
  }
  const { integration, plan } = await correlateSamples(
    backend,
    {
      type: 'cf32',
      inputs: STATIONS,
      polarisations: 1,
      sampleRateHz: 1e6,
      centreFrequencyHz: 60e6,
      voltages: voltagesOf('cf32', STATIONS, samples, voltages),
      samples,
    },
    { channels: CHANNELS, taps: TAPS, outputType: 'cf32' },
  );
  return {
    integration,
    truth,
    samples: spectra / overlapFactor(plan, spectra),
  };
}
