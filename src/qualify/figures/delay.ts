/** The same noise in two inputs, the second with a known fractional delay: measured in the phases, and corrected. */
import { planFft } from '../../core/fft.js';
import { linePlot } from '../../draw/index.js';
import { delayModels } from '../../delay/index.js';
import { type RequestedDelays, mostDelaySamples } from '../../stages/index.js';
import { CENTRE_HZ, correlateSamples, SAMPLE_RATE_HZ, type SampleSet } from '../engines.js';
import { atMost, type Figure, type Rig } from '../figure.js';
import { noise } from '../signals.js';

const CHANNELS = 64;
const TAPS = 8;
/** Delays of inputs in samples: none, within a sample, several and a fraction. */
const LATE = [0, 0.37, -0.5, 5.21] as const;

export const delayFigure: Figure = {
  name: 'delay',
  title: 'Phase, delay and what tracking takes out',
  about:
    'The same noise reaches several inputs late by known parts of a sample, made in the Fourier domain over the whole block. The slope of phase over the band must give the delay; with the delay given to the channeliser, phases must be flat.',
  measure: async (rig) => {
    const set = lateNoise(rig);
    const options = { channels: CHANNELS, taps: TAPS, outputType: 'cf32' } as const;
    const plain = await correlateSamples(rig.backend, set, options);
    const delays = theirDelays();
    const taken = await correlateSamples(
      rig.backend,
      set,
      { ...options, mostDelaySamples: mostDelaySamples(delays) },
      { delays },
    );
    const before = LATE.map((_, a) => phasesOf(plain.integration.visibilities, a));
    const after = LATE.map((_, a) => phasesOf(taken.integration.visibilities, a));
    // A signal delayed by τ has the phase −2π f τ: input over reference falls along the band.
    const slopes = before.map((phases) => -slopeOf(phases) * (CHANNELS / 360));
    const errors = slopes.map((found, a) => Math.abs(found - LATE[a]));
    const left = after.map((phases) => slopeOf(phases) * (CHANNELS / 360));
    return {
      checks: [
        atMost('delay found by the slope of phase', Math.max(...errors), 1e-3, 'samples'),
        atMost('phase left after it was taken out', largest(after.flat()), 1, '°'),
        atMost('slope left after it was taken out', largest(left), 1e-3, 'samples'),
      ],
      plots: [
        {
          caption: 'Phase along the band of inputs that are late, before and after the delay is taken out',
          picture: linePlot({
            title: 'Phase against the reference input',
            x: { label: 'channel', range: [0, CHANNELS - 1] },
            y: { label: 'phase (°)', range: [-180, 180] },
            series: [
              ...LATE.slice(1).map((late, k) => ({
                name: `late by ${late} samples`,
                x: channels,
                y: before[k + 1],
                drawn: 'dots' as const,
                size: 3,
              })),
              {
                name: 'all, taken out',
                x: channels,
                y: after[3],
                drawn: 'line' as const,
              },
            ],
          }),
        },
      ],
    };
  },
};

/** x_a(t) = x(t − late_a) of periodic noise, exact at every frequency; the carrier's phase included. */
function lateNoise({ quick }: Rig): SampleSet {
  const samples = 2 ** (quick ? 17 : 19);
  const fft = planFft(samples);
  const spectrum = noise(2 * samples, 1, 'delay');
  fft.forward(spectrum);
  const values = new Float64Array(2 * samples * LATE.length);
  LATE.forEach((late, a) => {
    const turned = spectrum.slice();
    for (let k = 0; k < samples; k++) {
      const cyclesPerSample = (k < samples / 2 ? k : k - samples) / samples;
      const angle = -2 * Math.PI * late * (cyclesPerSample + CENTRE_HZ / SAMPLE_RATE_HZ);
      const [re, im] = [turned[2 * k], turned[2 * k + 1]];
      turned[2 * k] = re * Math.cos(angle) - im * Math.sin(angle);
      turned[2 * k + 1] = re * Math.sin(angle) + im * Math.cos(angle);
    }
    // The inverse by the forward transform: conjugate before and after.
    for (let k = 0; k < samples; k++) turned[2 * k + 1] *= -1;
    fft.forward(turned);
    for (let t = 0; t < samples; t++) {
      values[2 * (a * samples + t)] = turned[2 * t] / samples;
      values[2 * (a * samples + t) + 1] = -turned[2 * t + 1] / samples;
    }
  });
  return {
    type: 'cf32',
    inputs: LATE.length,
    values,
    samples,
  };
}

/** Delays to add so that all inputs are equally late. */
function theirDelays(): RequestedDelays {
  const addedS = Float64Array.from(LATE, (late) => -late / SAMPLE_RATE_HZ);
  return {
    delayModel: delayModels(LATE.length, addedS),
    tickRateHz: SAMPLE_RATE_HZ,
    mostDelayS: 6 / SAMPLE_RATE_HZ,
    mostApartS: 6 / SAMPLE_RATE_HZ,
  };
}

/** The channel at the band's edge contains both ends, which have different phases: it is left out. */
const FIRST = 1;
const channels = Array.from({ length: CHANNELS - FIRST }, (_, n) => FIRST + n);

/** Phase of pair (a, 0) along the band, in degrees. */
function phasesOf(visibilities: Float64Array, a: number): number[] {
  const baselines = visibilities.length / 2 / CHANNELS;
  return channels.map((c) => {
    const at = 2 * (c * baselines + (a * (a + 1)) / 2);
    return (Math.atan2(visibilities[at + 1], visibilities[at]) * 180) / Math.PI;
  });
}

/** Degrees per channel, by least squares through phases unwrapped from one channel to the next. */
function slopeOf(phases: readonly number[]): number {
  const middle = (phases.length - 1) / 2;
  let [up, across, unwrapped] = [0, 0, phases[0]];
  phases.forEach((phase, n) => {
    unwrapped = phase - 360 * Math.round((phase - unwrapped) / 360);
    up += (n - middle) * unwrapped;
    across += (n - middle) ** 2;
  });
  return up / across;
}

const largest = (values: readonly number[]): number => Math.max(...values.map(Math.abs));
