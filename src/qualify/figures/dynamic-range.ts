/** A single tone, and the strongest spurious response elsewhere: with float samples, and through an 8-bit converter. */
import type { FilterWindow } from '../../channelise/index.js';
import { channelise, type Channelised } from '../engines.js';
import { atLeast, type Check, type Figure, type Rig } from '../figure.js';
import { decibels, digitise, noise, tones, voltagesOf } from '../signals.js';
import { noisePower } from '../theory.js';

interface Case {
  readonly name: string;
  readonly taps: number;
  readonly window: FilterWindow;
  readonly leastDb: number;
}

const CHANNELS = 64;
const cases: readonly Case[] = [
  { name: 'T = 8, Hann', taps: 8, window: { kind: 'hann' }, leastDb: 53 },
  { name: 'T = 16, Hann', taps: 16, window: { kind: 'hann' }, leastDb: 80 },
  { name: 'T = 16, Kaiser 9', taps: 16, window: { kind: 'kaiser', beta: 9 }, leastDb: 80 },
];

export const dynamicRangeFigure: Figure = {
  name: 'dynamic-range',
  title: 'Spurious-free dynamic range',
  about:
    'A tone in the middle of a channel, and the loudest response in any other, power averaged over spectra: by float samples, and rounded to 8 bits with two levels of receiver noise, as it comes from a converter.',
  measure: async (rig) => {
    const checks: Check[] = [];
    for (const one of cases) {
      checks.push(await measureFloat(rig, one), await measureQuantised(rig, one));
    }
    return { checks };
  },
};

/** A tone in channel 40 of 64. */
const CYCLES = 8 / CHANNELS;

async function measureFloat({ backend }: Rig, { name, taps, window, leastDb }: Case): Promise<Check> {
  const samples = CHANNELS * (taps + 63);
  const made = await channelise(
    backend,
    { channels: CHANNELS, taps, window, inputs: 1, inputType: 'cf32', outputType: 'cf32' },
    tones([CYCLES], samples),
    samples,
  );
  return atLeast(`${name}, float`, rangeDb(made, 0), leastDb, 'dB');
}

async function measureQuantised({ backend, quick }: Rig, { name, taps, window }: Case): Promise<Check> {
  const spectra = quick ? 4096 : 65_536;
  const samples = CHANNELS * (taps + spectra - 1);
  const tone = tones([CYCLES], samples, 100);
  const receiver = noise(2 * samples, 2, `dynamic range ${name}`);
  const levels = digitise(tone.map((value, n) => value + receiver[n]));
  const made = await channelise(
    backend,
    { channels: CHANNELS, taps, window, inputs: 1, inputType: 'ci8', outputType: 'cf32' },
    voltagesOf('ci8', 1, samples, levels),
    samples,
  );
  // Noise of receiver and rounding, equal in all channels, is no spur.
  const floor = 2 * (2 ** 2 + 1 / 12) * noisePower(made.plan);
  return atLeast(`${name}, 8 bits`, rangeDb(made, floor), 53, 'dB');
}

function rangeDb({ plan, spectra, samples }: Channelised, floor: number): number {
  const powers = Array.from({ length: plan.channels }, (_, c) => {
    let sum = 0;
    for (let t = 0; t < samples; t++)
      sum += spectra[2 * (c * samples + t)] ** 2 + spectra[2 * (c * samples + t) + 1] ** 2;
    return sum / samples;
  });
  const loudest = powers.indexOf(Math.max(...powers));
  const spurs = powers.filter((_, c) => c !== loudest).map((power) => Math.abs(power - floor));
  return decibels(powers[loudest] / Math.max(...spurs));
}
