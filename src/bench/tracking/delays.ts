/** Delays for the benchmark: distant inputs under a rotating sky, as whole samples and phases. */
import { delayModels, spectrumDelays, type DelayModel, type RunDelays } from '../../delay/index.js';
import type { ChannelisePlan } from '../../channelise/index.js';

/** Whole samples in either direction. */
export const MOST_DELAY = 1000;

/** Two kilometres at 1.4 GHz. */
export function movingDelayModel(inputs: number): DelayModel {
  const delayModel = delayModels(inputs);
  for (let a = 0; a < inputs; a++) {
    const share = a / inputs - 0.5;
    delayModel.load(a, {
      fromTick: 0n,
      delayS: 13.3e-6 * share,
      delayRate: 9.7e-10 * share,
      phaseRad: 0,
      phaseRateRadS: 0,
    });
  }
  return delayModel;
}

/** For 20 MHz bandwidth. */
export function benchDelays(plan: ChannelisePlan): RunDelays {
  const { samplesPerSpectrum, taps } = plan;
  return spectrumDelays({
    delayModel: movingDelayModel(plan.inputs),
    samplesPerSpectrum,
    taps,
    sampleRateHz: 20e6,
    zeroHz: 1.4e9,
    mostDelaySamples: MOST_DELAY,
  }).from(0).delays;
}
