/** Small telescopes and short recordings for the tests of this module. */
import assert from 'node:assert/strict';
import { elementsPerVoltage } from '../core/axes.js';
import { planFft } from '../core/fft.js';
import { parseInstant } from '../core/instant.js';
import type { Station, Telescope } from '../telescope/telescope.js';
import { skyFrame } from './frame.js';
import { perfectGains } from './input-gains.js';
import { simulate } from './simulate.js';
import { planSimulation, type SimulationOptions, type SimulationPlan } from './simulation-plan.js';

export const start = parseInstant('2026-06-21T04:00:00Z');
const site = { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 };
export const frame = skyFrame(site, start);

/** Stations at (east, north, up) metres, by default with the same response over the whole upper sky. */
export const telescopeAt = (
  places: readonly (readonly [number, number, number])[],
  changes: Partial<Telescope> = {},
): Telescope => ({
  name: 'test',
  title: 'test',
  site,
  stations: places.map(([eastM, northM, upM], s): Station => ({ name: `s${s}`, eastM, northM, upM })),
  polarisations: 1,
  band: { lowHz: 10e6, highHz: 90e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 1.6e6, channels: 64, bits: 8 },
  beamExponent: 0,
  ...changes,
});

/** By default, one noiseless chunk of floats from ideal inputs at 60 MHz. */
export const planWith = (
  options: Partial<SimulationOptions> & Pick<SimulationOptions, 'telescope'>,
): SimulationPlan =>
  planSimulation({
    start,
    samples: 4096,
    sampleRateHz: 1.6e6,
    centreFrequencyHz: 60e6,
    type: 'cf32',
    sources: [],
    systemFluxJy: 0,
    seed: 7,
    gains: perfectGains,
    ...options,
  });

/** The whole recording as one array, [a][t]. */
export async function record(plan: SimulationPlan): Promise<number[][]> {
  for await (const { voltages } of simulate(plan, plan.samples)) {
    const row = plan.samples * elementsPerVoltage(plan.type);
    return Array.from({ length: plan.inputs }, (_, a) => [...voltages.slice(a * row, (a + 1) * row)]);
  }
  return [];
}

export const power = (row: readonly number[], numbersPerSample: number): number =>
  (row.reduce((sum, value) => sum + value ** 2, 0) / row.length) * numbersPerSample;

/** A DFT of one input, complex or real samples. */
export function spectrumOf(row: readonly number[], plan: SimulationPlan): Float64Array {
  const values = new Float64Array(2 * plan.samples);
  if (elementsPerVoltage(plan.type) === 2) values.set(row);
  else for (let t = 0; t < plan.samples; t++) values[2 * t] = row[t];
  planFft(plan.samples).forward(values);
  return values;
}

export interface Complex {
  readonly re: number;
  readonly im: number;
}

/** x[bin] / y[bin] */
export function ratio(x: Float64Array, y: Float64Array, bin: number): Complex {
  const [xr, xi, yr, yi] = [x[2 * bin], x[2 * bin + 1], y[2 * bin], y[2 * bin + 1]];
  const size = yr ** 2 + yi ** 2;
  return { re: (xr * yr + xi * yi) / size, im: (xi * yr - xr * yi) / size };
}

/** Turns in [−½, ½). */
export const turnsOf = ({ re, im }: Complex): number => Math.atan2(im, re) / (2 * Math.PI);
export const wrapped = (turns: number): number => turns - Math.floor(turns + 0.5);

export const close = (got: number, expected: number, tolerance: number, what = ''): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${what} ${got} should be ${expected} ± ${tolerance}`);
};
