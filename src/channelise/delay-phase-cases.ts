/**
 * Two antennas receive the same noise, one of them early and moving; after tracking every channel of both must agree in
 * phase. Within the requirement of MeerKAT's correlator, and the error of half a sample at a channel's edge.
 */
import assert from 'node:assert/strict';
import type { Backend } from '../backend/backend.js';
import { allocateVoltages } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { delayModels, type DelayPiece } from '../delay/index.js';
import { channeliseDelayed, delaysOf } from './delay-runs.testing.js';
import { planChannelise } from './plan.js';

const sampleRateHz = 32.768e6;
const zeroHz = 60e6;
const CHANNELS = 64;
const TAPS = 4;
const SPECTRA = 60;
const TONES = 6 * CHANNELS;
const MOST_S = 80e-6;

interface Moving {
  readonly delayS: number;
  readonly delayRate: number;
  readonly phaseRad: number;
  readonly phaseRateRadS: number;
}
const still: Moving = { delayS: 0, delayRate: 0, phaseRad: 0, phaseRateRadS: 0 };

/**
 * The two recordings: tones at sky frequency f of time t + τ(t), mixed down by their own clocks; input 1 stays at the
 * origin. The phase and its rate simulate a wrong mixer.
 */
function recorded(samples: number, { delayS, delayRate, phaseRad, phaseRateRadS }: Moving): VoltageBlock {
  const random = randomStream(61, 'tones');
  const uniform = (): number => random.below(2 ** 24) / 2 ** 24;
  const voltages = allocateVoltages('cf32', 2, samples);
  const sums = new Float64Array(4 * samples);
  for (let tone = 0; tone < TONES; tone++) {
    const offsetHz = (uniform() - 0.5) * 0.98 * sampleRateHz;
    const start = 2 * Math.PI * uniform();
    for (let n = 0; n < samples; n++) {
      const t = n / sampleRateHz;
      const late = delayS + delayRate * t;
      const there = 2 * Math.PI * offsetHz * t + start;
      const here = there + 2 * Math.PI * (offsetHz + zeroHz) * late - phaseRad - phaseRateRadS * t;
      sums[2 * n] += Math.cos(here);
      sums[2 * n + 1] += Math.sin(here);
      sums[2 * (samples + n)] += Math.cos(there);
      sums[2 * (samples + n) + 1] += Math.sin(there);
    }
  }
  voltages.set(sums);
  return { type: 'cf32', inputs: 2, samples, voltages, gaps: [], start: instant(0) };
}

/** The worst phase between both, channel by channel, degrees; and their coherence. */
async function phases(
  backend: Backend,
  moving: Moving,
  piece: Omit<DelayPiece, 'fromTick'>,
  parts = 1,
): Promise<{ readonly worstDeg: number; readonly apartDeg: number; readonly coherence: number }> {
  const mostDelaySamples = Math.ceil(MOST_S * sampleRateHz);
  const blockSamples = (SPECTRA + TAPS) * CHANNELS + 2 * mostDelaySamples;
  const plan = planChannelise({
    channels: CHANNELS,
    taps: TAPS,
    inputs: 2,
    polarisations: 1,
    inputType: 'cf32',
    outputType: 'cf32',
    blockSamples,
    mostDelaySamples,
  });
  const delayModel = delayModels(2);
  delayModel.load(0, { fromTick: 0n, ...piece });
  const delays = delaysOf(plan, delayModel, { sampleRateHz, zeroHz });
  const { blocks } = await channeliseDelayed(plan, backend, recorded(blockSamples, moving), [], delays);
  const skipped = Math.ceil(mostDelaySamples / CHANNELS); // the first ones extend to before the stream
  const sums = Array.from({ length: parts * CHANNELS }, () => [0, 0, 0, 0]);
  let spectrum = 0;
  for (const { samples, spectra } of blocks) {
    for (let t = 0; t < samples; t++, spectrum++) {
      if (spectrum < skipped || spectrum >= skipped + SPECTRA - skipped) continue;
      const part = Math.floor(((spectrum - skipped) * parts) / (SPECTRA - skipped));
      for (let c = 0; c < CHANNELS; c++) {
        const at = 2 * (2 * c * samples + t);
        const [xr, xi, yr, yi] = [
          spectra[at],
          spectra[at + 1],
          spectra[at + 2 * samples],
          spectra[at + 2 * samples + 1],
        ];
        const sum = sums[part * CHANNELS + c];
        sum[0] += xr * yr + xi * yi;
        sum[1] += xi * yr - xr * yi;
        sum[2] += xr * xr + xi * xi;
        sum[3] += yr * yr + yi * yi;
      }
    }
  }
  const deg = ([re, im]: readonly number[]): number => (Math.atan2(im, re) * 180) / Math.PI;
  const inside = sums.filter((_, n) => n % CHANNELS >= 4 && n % CHANNELS < CHANNELS - 4);
  const mean = (part: number): number => {
    const own = sums.slice(part * CHANNELS + 4, (part + 1) * CHANNELS - 4);
    return deg([own.reduce((sum, [re]) => sum + re, 0), own.reduce((sum, [, im]) => sum + im, 0)]);
  };
  return {
    worstDeg: Math.max(...inside.map((sum) => Math.abs(deg(sum)))),
    apartDeg: Math.abs(mean(parts - 1) - mean(0)),
    coherence:
      inside.reduce((sum, [re, im, x, y]) => sum + Math.hypot(re, im) / Math.sqrt(x * y), 0) / inside.length,
  };
}

type Case = (name: string, body: () => Promise<void>) => void;

export function phaseCases(theCase: Case, backend: () => Backend): void {
  const sample = 1 / sampleRateHz;
  const cases: readonly (readonly [string, Partial<Moving>])[] = [
    ['no delay', {}],
    ['half a sample', { delayS: 0.5 * sample }],
    ['2.75 samples', { delayS: 2.75 * sample }],
    ['2.5 ps', { delayS: 2.5e-12 }],
    ['79.53 µs', { delayS: 79.53e-6 }],
    ['−79.53 µs', { delayS: -79.53e-6 }],
    ['a phase of π', { phaseRad: Math.PI }],
    ['a phase of −π/3', { phaseRad: -Math.PI / 3, delayS: 1e-6 }],
  ];
  for (const [title, moving] of cases) {
    theCase(`delays: phases are right after ${title}`, async () => {
      const all = { ...still, ...moving };
      const { worstDeg, coherence } = await phases(backend(), all, all);
      const samples = all.delayS * sampleRateHz;
      // One phase for a whole channel leaves an error of 180°·fine/C at its edges, and 1° in all.
      const bound = Math.min(1.45, (180 * Math.abs(samples - Math.round(samples))) / CHANNELS + 0.1);
      assert.ok(worstDeg < bound, `${worstDeg}° of ${bound}°`);
      assert.ok(coherence > 0.998, `coherence ${coherence}`);
    });
  }
  for (const [title, moving] of [
    ['a delay rate of 2.56e-9', { delayS: 1e-6, delayRate: 2.56e-9 }],
    ['a delay rate of −2.56e-9', { delayS: 1e-6, delayRate: -2.56e-9 }],
    ['49 rad/s', { phaseRateRadS: 49 }],
    ['−49 rad/s', { phaseRateRadS: -49 }],
  ] as const) {
    theCase(`delays: phases stay from one integration to the next at ${title}`, async () => {
      const all = { ...still, ...moving };
      const { apartDeg, worstDeg } = await phases(backend(), all, all, 2);
      assert.ok(apartDeg < 0.05, `${apartDeg}° between integrations`);
      assert.ok(worstDeg < 1.45, `${worstDeg}°`);
    });
  }
  theCase('delays: the wrong sign, and none, are wrong by far', async () => {
    const moving = { ...still, delayS: 2.75 * sample };
    for (const delayS of [-2.75 * sample, 0])
      assert.ok((await phases(backend(), moving, { ...still, delayS })).worstDeg > 10);
  });
}
