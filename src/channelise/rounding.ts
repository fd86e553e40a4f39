/** What rounding leaves of noise: a real or imaginary part, Gaussian of rms σ levels, through the staircase. */
import { crossOfRounded, powerOfRounded } from '../core/rounded-noise.js';

export interface Rounding {
  /** E[x q]² / (σ² E[q²]): what is left of the signal over noise of a weak correlation, 1 without rounding. */
  readonly efficiency: number;
  /** E[q²]/σ² − 1: by so much the power of a lone input is off. */
  readonly powerBias: number;
}

/** What rounding to whole levels up to a rail makes of Gaussian noise of an rms. */
export function rounding(rmsLevels: number, rail: number): Rounding {
  const cross = crossOfRounded(rmsLevels, rail);
  const square = powerOfRounded(rmsLevels, rail);
  return { efficiency: square > 0 ? cross ** 2 / square : 0, powerBias: square / rmsLevels ** 2 - 1 };
}
