/** Delays for the benchmark: distant inputs under a rotating sky, as whole samples and phases. */
import { delayModels, spectrumDelays, type RunDelays } from '../../delay/index.js';
import type { ChannelisePlan } from '../../channelise/index.js';

/** Whole samples in either direction. */
export const MOST_DELAY = 1000;

/** Two kilometres at 1.4 GHz, 20 MHz bandwidth. */
export function benchDelays(plan: ChannelisePlan): RunDelays {
  const sampleRateHz = 20e6;
  const delayModel = delayModels(plan.inputs);
  for (let a = 0; a < plan.inputs; a++) {
    const share = a / plan.inputs - 0.5;
    delayModel.load(a, {
      fromTick: 0n,
      delayS: 13.3e-6 * share,
      delayRate: 9.7e-10 * share,
      phaseRad: 0,
      phaseRateRadS: 0,
    });
  }
  const { samplesPerSpectrum, taps } = plan;
  return spectrumDelays({
    delayModel,
    samplesPerSpectrum,
    taps,
    sampleRateHz,
    zeroHz: 1.4e9,
    mostDelaySamples: MOST_DELAY,
  }).from(0).delays;
}
