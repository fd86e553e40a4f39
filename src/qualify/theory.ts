/** The effect of the filter alone on white noise, as theory for the figures. */
import type { ChannelisePlan } from '../channelise/index.js';

/** Σ h[n] h[n + lag·P] of the prototype. */
function energyAt({ prototype, samplesPerSpectrum }: ChannelisePlan, lag: number): number {
  let sum = 0;
  for (let n = 0; n + lag * samplesPerSpectrum < prototype.length; n++)
    sum += prototype[n] * prototype[n + lag * samplesPerSpectrum];
  return sum;
}

/** The variance of a sum of N products relative to independent ones: both factors are correlated by ρ. */
export function overlapFactor(plan: ChannelisePlan, spectra: number): number {
  const all = energyAt(plan, 0);
  let factor = 1;
  for (let lag = 1; lag < plan.taps; lag++)
    factor += 2 * (1 - lag / spectra) * (energyAt(plan, lag) / all) ** 2;
  return factor;
}

/** Output power of the channeliser for white noise of power 1. */
export const noisePower = (plan: ChannelisePlan): number =>
  (typeof plan.gains === 'number' ? plan.gains ** 2 : NaN) * energyAt(plan, 0);
