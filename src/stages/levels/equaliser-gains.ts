/**
 * Gains before rounding, one for each input and channel: a sloping band, or inputs of different strength, then lose
 * equally by it. They are relative to the nominal gain, and means are divided by them again: visibilities keep their
 * unit.
 */
import type { Backend } from '../../backend/backend.js';
import { outputRail, prepareChanneliser, rounding } from '../../channelise/index.js';
import type { Integration } from '../../core/blocks.js';
import { preparing } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import type { VoltageSource } from '../../core/sources.js';
import { planChannels, type ChannelSettings } from '../channels.js';
import { MOST_SILENT_NUMBERS, nominalGain } from '../levels.js';

export interface EqualiserGains {
  readonly inputs: number;
  readonly channels: number;
  /** factors : [a][c] */
  readonly factors: Float64Array;
  readonly from: 'measured' | 'given';
  /** Where measured: the signal-to-noise that rounding keeps of a weak signal. */
  readonly efficiency?: number;
  /** The common rms after the gains, in levels. */
  readonly outputRms?: number;
  /** Channels of inputs without signal; they get the input's own median, or the others'. */
  readonly silent?: number;
}

/** In levels, as for one gain for all (levels.ts). */
const WANTED = { ci4: 2.5, ci8: 16 } as const;
/** Spectra to measure, fewer where they exceed this many numbers. */
const [LEAST_SPECTRA, MOST_SPECTRA, MOST_NUMBERS] = [32, 512, 2 ** 22];
/** The median of so many means: intermittent signals do not set the level. */
const PARTS = 8;

/** Measures a recording's first spectra. Needs settings without a gain. */
export async function measureEqualiser(
  source: VoltageSource,
  settings: ChannelSettings,
  backend: Backend,
): Promise<EqualiserGains> {
  const { outputType, channels } = settings;
  if (outputType === 'cf32')
    return refuse(
      'front.equaliser',
      'these channels are floats, and are not rounded',
      'give front.bits: 8 or 4 too',
    );
  const { inputs } = source;
  const wanted = Math.max(
    LEAST_SPECTRA,
    Math.min(MOST_SPECTRA, Math.floor(MOST_NUMBERS / (channels * inputs))),
  );
  const nominal = nominalGain(source, settings);
  const plan = planChannels(source, {
    ...settings,
    outputType: 'cf32',
    gain: nominal,
    leastSpectra: wanted + settings.taps,
  });
  const factors = new Float64Array(inputs * channels);
  const rms = new Float64Array(inputs * channels);
  let receivedBefore = false;
  await preparing(async (closers) => {
    const channeliser = closers.keep(await prepareChanneliser(plan, backend));
    const out = closers.keep(backend.allocateSpectra(plan.output));
    let silentNumbers = 0;
    for await (const block of source.blocks((wanted + plan.taps - 1) * plan.samplesPerSpectrum)) {
      await channeliser.run(block, out);
      block.release?.();
      const spectra = await out.read();
      const now = Float64Array.from(rms, (_, n) => {
        const [a, c] = [Math.floor(n / channels), n % channels];
        return rmsOf(spectra, (c * inputs + a) * out.samples, out.samples);
      });
      const received = now.some((one) => one > 0);
      if (received) rms.set(now);
      // After silence, or in a part of a recording, a signal begins inside a block: the next block is full of it.
      if (receivedBefore || (received && silentNumbers === 0 && out.samples >= LEAST_SPECTRA)) break;
      receivedBefore = received;
      silentNumbers += block.samples * inputs;
      if (silentNumbers > MOST_SILENT_NUMBERS) break;
    }
    await closers.close();
  });
  if (rms.every((one) => one === 0))
    refuse(
      'front.equaliser',
      'the recording begins silent, and there is nothing to measure',
      'give levels of a file, or leave its beginning out with source.from',
    );
  const level = WANTED[outputType];
  let silent = 0;
  rms.forEach((one, n) => {
    if (one > 0) factors[n] = level / one;
    else silent++;
  });
  fillSilent(factors, inputs, channels);
  const { efficiency } = rounding(level, outputRail[outputType]);
  return { inputs, channels, factors, from: 'measured', silent, efficiency, outputRms: level };
}

/** Silent ones get the median of their input, or of the channel's other inputs if the whole input is silent. */
function fillSilent(factors: Float64Array, inputs: number, channels: number): void {
  const given = factors.slice();
  for (let a = 0; a < inputs; a++) {
    const own = given.subarray(a * channels, (a + 1) * channels).filter((one) => one > 0);
    for (let c = 0; c < channels; c++) {
      if (given[a * channels + c] > 0) continue;
      const others = Array.from({ length: inputs }, (_, b) => given[b * channels + c]);
      const like = own.length > 0 ? own : others.filter((one) => one > 0);
      factors[a * channels + c] = median(like.length > 0 ? like : given.filter((one) => one > 0));
    }
  }
}

/** Rms of a real or imaginary part; lost spectra, and silence, are zeros and do not count. */
function rmsOf(spectra: ArrayLike<number>, row: number, samples: number): number {
  const means: number[] = [];
  for (let part = 0; part < PARTS; part++) {
    let [sum, count] = [0, 0];
    const end = Math.floor(((part + 1) * samples) / PARTS);
    for (let t = Math.floor((part * samples) / PARTS); t < end; t++) {
      const power = spectra[2 * (row + t)] ** 2 + spectra[2 * (row + t) + 1] ** 2;
      sum += power;
      if (power > 0) count++;
    }
    if (count > 0) means.push(sum / count);
  }
  return means.length === 0 ? 0 : Math.sqrt(median(means) / 2);
}

/** In an integration's own memory: sums as they would be at the nominal gain. */
export function undoEqualiser(
  integration: Integration,
  { factors, channels, inputs }: Pick<EqualiserGains, 'factors' | 'channels' | 'inputs'>,
): Integration {
  const { visibilities, stations, polarisations: p } = integration;
  if (channels !== integration.channels || inputs !== stations * p)
    throw new Error('levels of another shape than the integration');
  let at = 0;
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++)
        for (let pi = 0; pi < p; pi++)
          for (let pj = 0; pj < p; pj++, at += 2) {
            const by = factors[(i * p + pi) * channels + c] * factors[(j * p + pj) * channels + c];
            visibilities[at] /= by;
            visibilities[at + 1] /= by;
          }
  return integration;
}
