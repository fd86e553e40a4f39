/**
 * Eight dishes that receive one source at ERFA's positions: noise as a sum of tones, each with the geometric delay at
 * every dish, made independently of the chain.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { voltagesAT } from '../core/axes.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { createSigmf } from '../formats/index.js';
import { loadTelescope } from '../telescope/load.js';
import { directions, site, start } from './erfa-tracking.js';

/** [east, north, up], within 2 km of each other. */
const places: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [120, 60, 1.5],
  [-310, 240, -2],
  [480, -390, 3],
  [-700, -420, 4.5],
  [850, 380, -1],
  [-950, 300, 2.5],
  [1010, -120, 0.5],
];

export interface Dishes {
  readonly centreFrequencyHz: number;
  readonly sampleRateHz: number;
  readonly samples: number;
  /** Scale of the array, relative to the eight over 2 km. */
  readonly scale?: number;
  /** Cable delay of each dish in seconds. */
  readonly cablesS?: readonly number[];
  /** One tone in the exact centre of each of 64 channels, instead of several at random frequencies. */
  readonly tones?: 'centred';
  /**
   * As sent by digitisers: real or complex samples of 8 bits, the first at ERFA's moment, on a whole second. By
   * default, complex floats centred on that moment.
   */
  readonly samplesAs?: 'i8' | 'ci8';
}

/** Of full scale: 24 levels, so that rounding adds little and no sample is clipped. */
const DIGITISED_RMS = 24;

/** Writes their description; returns its path. */
export async function describeDishes(folder: string, dishes: Dishes): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { centreFrequencyHz, sampleRateHz, scale = 1 } = dishes;
  const description = {
    name: 'dishes',
    title: 'eight dishes',
    site,
    positions: 'dishes.csv',
    polarisations: 1,
    band: { lowHz: centreFrequencyHz / 2, highHz: 2 * centreFrequencyHz },
    recording: { centreFrequencyHz, sampleRateHz, channels: 64, bits: 8 },
    beamExponent: 0,
  };
  const rows = places.map((place, n) => [`dish${n}`, ...place.map((metres) => metres * scale)].join(','));
  await writeFile(join(folder, 'dishes.csv'), `name,east_m,north_m,up_m\n${rows.join('\n')}\n`);
  const path = join(folder, 'dishes.json');
  await writeFile(path, JSON.stringify(description));
  return path;
}

/** Records a time range around the moment of ERFA's direction `index`; returns the recording's path. */
export async function recordDishes(
  folder: string,
  index: number,
  dishes: Dishes,
  noisePerDish = 0,
): Promise<string> {
  const { centreFrequencyHz, sampleRateHz, samples, scale = 1, cablesS } = dishes;
  const telescope = await loadTelescope(await describeDishes(folder, dishes));
  const [seconds, east, north, up, ...rates] = directions[index];
  const random = randomStream(71, index);
  const uniform = (): number => random.below(2 ** 24) / 2 ** 24;
  const digitised = dishes.samplesAs;
  const isReal = digitised === 'i8';
  // Real samples have half the bandwidth, from its lower edge.
  const bandwidthHz = isReal ? sampleRateHz / 2 : sampleRateHz;
  const count = dishes.tones === 'centred' ? 64 : 192;
  const tones = Array.from({ length: count }, (_, n) => ({
    // Several in every channel, none at a simple fraction of the rate.
    offsetHz: ((n + (dishes.tones === 'centred' ? 0 : uniform())) / count - 0.5) * bandwidthHz,
    turns: uniform(),
  }));
  const voltages = new Float32Array(2 * places.length * samples);
  const sums = new Float64Array(2 * samples);
  places.forEach(([eastM, northM, upM], a) => {
    const early = (along: readonly number[]): number =>
      ((eastM * along[0] + northM * along[1] + upM * along[2]) * scale) / SPEED_OF_LIGHT_M_PER_S;
    const rate = early(rates);
    // At the first sample; ERFA's moment is the centre of the range, or its first sample. A cable adds delay.
    const sinceFirstS = digitised ? 0 : samples / 2 / sampleRateHz;
    const delayS = early([east, north, up]) - rate * sinceFirstS - (cablesS?.[a] ?? 0);
    sums.fill(0);
    for (const { offsetHz, turns } of tones) {
      const skyHz = offsetHz + centreFrequencyHz;
      const first = 2 * Math.PI * ((turns + ((skyHz * delayS) % 1)) % 1);
      const sampledHz = offsetHz + (isReal ? bandwidthHz / 2 : 0);
      const step = (2 * Math.PI * (sampledHz + skyHz * rate)) / sampleRateHz;
      const [cos, sin] = [Math.cos(step), Math.sin(step)];
      let [re, im] = [Math.cos(first), Math.sin(first)];
      for (let n = 0; n < samples; n++) {
        sums[2 * n] += re;
        sums[2 * n + 1] += im;
        [re, im] = [re * cos - im * sin, re * sin + im * cos];
      }
    }
    for (let n = 0; n < 2 * samples; n++)
      voltages[2 * a * samples + n] = sums[n] + (noisePerDish > 0 ? noisePerDish * random.gaussian() : 0);
  });
  const path = join(folder, `part${index}.sigmf-meta`);
  const begins = addSeconds(
    parseInstant(start, 'ERFA'),
    seconds - (digitised ? 0 : samples / 2 / sampleRateHz),
  );
  const type = digitised ?? 'cf32';
  const inputs = places.length;
  const writer = await createSigmf(path, {
    telescope,
    inputs,
    polarisations: 1,
    type,
    start: begins,
    sampleRateHz,
    centreFrequencyHz,
    description: 'tones',
    history: [],
  });
  const numbers = digitised ? rounded(voltages, isReal) : voltages;
  await writer.append({
    type,
    inputs,
    samples,
    gaps: [],
    start: begins,
    voltages: voltagesAT(numbers, type, inputs, samples),
  });
  await writer.finish();
  return path;
}

/** Rounds to 8 bits; for real samples only the real parts. */
function rounded(voltages: Float32Array, isReal: boolean): Int8Array {
  const kept = isReal ? voltages.filter((_, n) => n % 2 === 0) : voltages;
  const rms = Math.sqrt(kept.reduce((sum, value) => sum + value ** 2, 0) / kept.length);
  return Int8Array.from(kept, (value) =>
    Math.max(-127, Math.min(127, Math.round((value * DIGITISED_RMS) / rms))),
  );
}
