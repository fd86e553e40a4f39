/** Complex gains of the inputs: drawn from the seed, unknown to calibration. */
import { gainsCA, type GainsCA } from '../core/axes.js';
import { realNumber } from '../core/errors.js';
import { randomStream } from '../core/random.js';
import type { Turns } from './turn.js';

export interface GainModel {
  /** Rms of the natural logarithm of the amplitude. */
  readonly logAmplitudeRms: number;
  /** `random`: uniform on the circle. */
  readonly phases: 'random' | 'zero';
  /** Each cable has a delay drawn uniformly from 0 to this, which rotates the phase along the band. */
  readonly longestCableS: number;
}

export const nominalGains: GainModel = { logAmplitudeRms: 0.2, phases: 'random', longestCableS: 20e-9 };
export const perfectGains: GainModel = { logAmplitudeRms: 0, phases: 'zero', longestCableS: 0 };

/** g(f) = amplitude · e^(2πi (phaseTurns − (f − centre)·cableS)): a later signal has a falling phase. */
export interface InputGain {
  readonly amplitude: number;
  readonly phaseTurns: number;
  readonly cableS: number;
}

export function drawGains(model: GainModel, seed: number, inputs: number): InputGain[] {
  realNumber('simulate', 'gains.logAmplitudeRms', model.logAmplitudeRms, 0, 2);
  realNumber('simulate', 'gains.longestCableS', model.longestCableS, 0, 1e-5);
  return Array.from({ length: inputs }, (_, a) => {
    const stream = randomStream(seed, 'gain', a);
    // Always drawn, in one order: omitting the phases does not change the amplitudes.
    const amplitude = Math.exp(model.logAmplitudeRms * stream.gaussian());
    const phase = stream.uniform();
    const cableS = model.longestCableS * stream.uniform();
    return { amplitude, phaseTurns: model.phases === 'random' ? phase : 0, cableS };
  });
}

export const gainTurns = (gain: InputGain, centreHz: number, frequencyHz: number): number =>
  gain.phaseTurns - (frequencyHz - centreHz) * gain.cableS;

/** The same for bins that start at a frequency and rise by a step. */
export const gainRamp = (gain: InputGain, centreHz: number, lowestHz: number, stepHz: number): Turns => ({
  first: gainTurns(gain, centreHz, lowestHz),
  step: -stepHz * gain.cableS,
});

interface GainedInputs {
  readonly inputGains: readonly InputGain[];
  readonly centreFrequencyHz: number;
}

/**
 * The correct result of a solver: x_a = countsPerRootJy · g_a(f) · sky_a with sky_a in √Jy through the element's beam.
 * Dimensionless, of amplitude about 1; excludes the quantiser's scale (the plan's countsPerRootJy) and any gain of the
 * channeliser. A solver's phases are relative to its reference antenna: rotate both before comparing.
 */
export function trueGains(plan: GainedInputs, frequenciesHz: ArrayLike<number>): GainsCA {
  const inputs = plan.inputGains.length;
  const values = new Float64Array(2 * frequenciesHz.length * inputs);
  for (let c = 0; c < frequenciesHz.length; c++) {
    plan.inputGains.forEach((gain, a) => {
      const angle = 2 * Math.PI * gainTurns(gain, plan.centreFrequencyHz, frequenciesHz[c]);
      values[2 * (c * inputs + a)] = gain.amplitude * Math.cos(angle);
      values[2 * (c * inputs + a) + 1] = gain.amplitude * Math.sin(angle);
    });
  }
  return gainsCA(values, frequenciesHz.length, inputs);
}
