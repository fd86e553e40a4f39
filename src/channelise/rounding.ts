/** The effect of rounding on noise: a real or imaginary part, Gaussian of rms σ levels, through the staircase. */
import { crossOfRounded, powerOfRounded } from '../core/rounded-noise.js';

export interface Rounding {
  /** E[x q]² / (σ² E[q²]): the remaining signal-to-noise of a weak correlation, 1 without rounding. */
  readonly efficiency: number;
  /** E[q²]/σ² − 1: the relative error of a single input's power. */
  readonly powerBias: number;
}

/** The effect of rounding to integer levels up to a rail on Gaussian noise of an rms. */
export function rounding(rmsLevels: number, rail: number): Rounding {
  const cross = crossOfRounded(rmsLevels, rail);
  const square = powerOfRounded(rmsLevels, rail);
  return { efficiency: square > 0 ? cross ** 2 / square : 0, powerBias: square / rmsLevels ** 2 - 1 };
}
