/** Closure phases and amplitudes of a single source: gains cancel, so only noise may be left. */
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { randomStream } from '../../core/random.js';
import { correlateSamples } from '../engines.js';
import { within, type Figure, type Rig } from '../figure.js';
import { noise } from '../signals.js';
import { overlapFactor } from '../theory.js';

const STATIONS = 16;
const CHANNELS = 32;
const TAPS = 8;
/** Source power relative to each receiver's noise: weak, as in reality, so that baselines have independent noise. */
const SOURCE_POWER = 0.1;

export const closureFigure: Figure = {
  name: 'closure',
  title: 'Closure phase and amplitude',
  about:
    'A source a tenth as strong as the receivers’ noise, random gains. Closure phases (three stations) and closure amplitudes (four) are free of gains; their scatter about 0 and 1, over what the noise of their visibilities makes, must be 1.',
  measure: async (rig) => {
    const observation = await observe(rig);
    return {
      checks: [
        within('closure phase: scatter over thermal', phaseScatter(observation), 0.9, 1.1),
        within('closure amplitude: scatter over thermal', amplitudeScatter(observation), 0.9, 1.1),
      ],
    };
  },
};

/** A single source over noisy receivers, by formula: every input receives the same signal with its own gain. */
interface Observation {
  readonly integration: Integration;
  /** truth : [a] complex, the same in all channels. */
  readonly truth: Float64Array;
  /** Independent samples per visibility. */
  readonly samples: number;
}

/** x_a = g_a · s + n_a, s of power `SOURCE_POWER`, n of power 1 in each input. */
async function observe({ backend, quick }: Rig): Promise<Observation> {
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
      values: voltages,
      samples,
    },
    { channels: CHANNELS, taps: TAPS, outputType: 'cf32' },
  );
  return { integration, truth, samples: spectra / overlapFactor(plan, spectra) };
}

/** A pair of a loop, and whether it is traversed forwards. */
interface Side {
  readonly i: number;
  readonly j: number;
  readonly sign: 1 | -1;
}

function phaseScatter(observation: Observation): number {
  return scatter(observation, 'phase', (s) => [
    { i: s, j: next(s, 1), sign: 1 },
    { i: next(s, 1), j: next(s, 5), sign: 1 },
    { i: next(s, 5), j: s, sign: 1 },
  ]);
}

function amplitudeScatter(observation: Observation): number {
  return scatter(observation, 'amplitude', (s) => [
    { i: s, j: next(s, 1), sign: 1 },
    { i: next(s, 3), j: next(s, 8), sign: 1 },
    { i: s, j: next(s, 3), sign: -1 },
    { i: next(s, 1), j: next(s, 8), sign: -1 },
  ]);
}

const next = (station: number, by: number): number => (station + by) % STATIONS;

/** Root mean square of closures over their own standard deviation; loops begin at every station, in every channel. */
function scatter(
  observation: Observation,
  of: 'phase' | 'amplitude',
  loopFrom: (station: number) => readonly Side[],
): number {
  let sum = 0;
  for (let s = 0; s < STATIONS; s++) {
    const loop = loopFrom(s);
    const variance = loop
      .flatMap((x) => loop.map((y) => x.sign * y.sign * covariance(observation, of, x, y)))
      .reduce((total, value) => total + value, 0);
    for (let c = 0; c < CHANNELS; c++) {
      const closed = loop.reduce((total, side) => total + side.sign * valueOf(observation, of, c, side), 0);
      const closure = of === 'phase' ? closed - 2 * Math.PI * Math.round(closed / (2 * Math.PI)) : closed;
      sum += closure ** 2 / variance;
    }
  }
  return Math.sqrt(sum / (STATIONS * CHANNELS));
}

function valueOf({ integration }: Observation, of: 'phase' | 'amplitude', c: number, { i, j }: Side): number {
  const baselines = integration.counts.length / CHANNELS;
  const at = 2 * (c * baselines + baselineIndex(Math.max(i, j), Math.min(i, j)));
  const re = integration.visibilities[at];
  const im = integration.visibilities[at + 1] * (i >= j ? 1 : -1);
  return of === 'phase' ? Math.atan2(im, re) : Math.log(Math.hypot(re, im));
}

/**
 * Covariance of two pairs' phases or log amplitudes. The noise of V_ij = ⟨x_i conj(x_j)⟩ over N samples of Gaussian
 * signals with covariance R has E[δV_ij conj(δV_kl)] = R_ik R_lj / N and E[δV_ij δV_kl] = R_il R_kj / N: pairs with a
 * common station have partly common noise, if the source is strong relative to the receivers.
 */
function covariance(observation: Observation, of: 'phase' | 'amplitude', x: Side, y: Side): number {
  const { truth, samples } = observation;
  const r = (a: number, b: number): Complex => {
    const product = times(gainOf(truth, a), conjugate(gainOf(truth, b)));
    return { re: SOURCE_POWER * product.re + (a === b ? 1 : 0), im: SOURCE_POWER * product.im };
  };
  const [vx, vy] = [r(x.i, x.j), r(y.i, y.j)];
  const straight = over(times(r(x.i, y.i), r(y.j, x.j)), times(vx, conjugate(vy)));
  const crossed = over(times(r(x.i, y.j), r(y.i, x.j)), times(vx, vy));
  return (straight.re + (of === 'phase' ? -1 : 1) * crossed.re) / (2 * samples);
}

interface Complex {
  readonly re: number;
  readonly im: number;
}
const gainOf = (truth: Float64Array, a: number): Complex => ({ re: truth[2 * a], im: truth[2 * a + 1] });
const conjugate = ({ re, im }: Complex): Complex => ({ re, im: -im });
const times = (x: Complex, y: Complex): Complex => ({
  re: x.re * y.re - x.im * y.im,
  im: x.re * y.im + x.im * y.re,
});
const over = (x: Complex, y: Complex): Complex => {
  const size = y.re ** 2 + y.im ** 2;
  const product = times(x, conjugate(y));
  return { re: product.re / size, im: product.im / size };
};
