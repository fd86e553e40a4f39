/** Input signals of the engines: tones and noise, made by formula and independent of the sky simulation. */
import { allocateVoltages, type VoltagesAT, type VoltageType } from '../core/axes.js';
import { randomStream } from '../core/random.js';

/** One complex tone per input: x_a[t] = amplitude · e^(2πi · cycles_a · t), `cycles` in cycles per sample. */
export function tones(cycles: readonly number[], samples: number, amplitude = 1): VoltagesAT {
  const voltages = allocateVoltages('cf32', cycles.length, samples);
  cycles.forEach((perSample, a) => {
    for (let t = 0; t < samples; t++) {
      const angle = 2 * Math.PI * ((perSample * t) % 1);
      voltages[2 * (a * samples + t)] = amplitude * Math.cos(angle);
      voltages[2 * (a * samples + t) + 1] = amplitude * Math.sin(angle);
    }
  });
  return voltages;
}

/** The same for real samples: cosines. */
export function cosines(cycles: readonly number[], samples: number, amplitude = 1): VoltagesAT {
  const voltages = allocateVoltages('f32', cycles.length, samples);
  cycles.forEach((perSample, a) => {
    for (let t = 0; t < samples; t++)
      voltages[a * samples + t] = amplitude * Math.cos(2 * Math.PI * ((perSample * t) % 1));
  });
  return voltages;
}

/** Gaussian numbers of an rms; every number (re and im) is an independent draw. */
export function noise(length: number, rms: number, seed: string): Float64Array {
  const values = new Float64Array(length);
  randomStream(20260601, seed).addGaussians(values, rms);
  return values;
}

/** Rounded to whole levels and clipped at the rails, as in a converter. */
export function digitise(values: ArrayLike<number>): Int8Array {
  const levels = new Int8Array(values.length);
  for (let n = 0; n < levels.length; n++) levels[n] = Math.max(-127, Math.min(127, Math.round(values[n])));
  return levels;
}

/** An array of a type with the given values. */
export function voltagesOf(
  type: VoltageType,
  inputs: number,
  samples: number,
  values: ArrayLike<number>,
): VoltagesAT {
  const voltages = allocateVoltages(type, inputs, samples);
  voltages.set(values);
  return voltages;
}

export const decibels = (powerRatio: number): number => 10 * Math.log10(powerRatio);
