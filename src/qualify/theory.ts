/** What the filter alone makes of white noise: the figures' theory. */
import type { ChannelisePlan } from '../channelise/index.js';

/** Σ h[n] h[n + lag·P] of the prototype. */
function energyAt({ prototype, samplesPerSpectrum }: ChannelisePlan, lag: number): number {
  let sum = 0;
  for (let n = 0; n + lag * samplesPerSpectrum < prototype.length; n++)
    sum += prototype[n] * prototype[n + lag * samplesPerSpectrum];
  return sum;
}

/** The variance of a sum of N products over that of independent ones: both factors repeat by ρ. */
export function overlapFactor(plan: ChannelisePlan, spectra: number): number {
  const all = energyAt(plan, 0);
  let factor = 1;
  for (let lag = 1; lag < plan.taps; lag++)
    factor += 2 * (1 - lag / spectra) * (energyAt(plan, lag) / all) ** 2;
  return factor;
}

/** White noise of power 1 leaves the channeliser with this. */
export const noisePower = (plan: ChannelisePlan): number =>
  (typeof plan.gains === 'number' ? plan.gains ** 2 : NaN) * energyAt(plan, 0);
