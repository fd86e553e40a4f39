/** What is said of a window: codes, and how far a spectral kurtosis lies from noise's own. */
import type { Limits, PowerShape } from './limits.js';
import { roundedAt, type RoundedCurve } from './rounded.js';

export const ABOVE = 1;
export const BELOW = 2;
export const UNJUDGED = 3;
/** Added where a pair of windows offended, and neither alone. */
export const PAIRED = 4;
/** Added where inputs or windows did together, and none alone. */
export const TOGETHER = 8;
export const isAlone = (offence: number): boolean => offence === ABOVE || offence === BELOW;
/** Which of the two an offence is. */
export const sideOf = (offence: number): number => offence % PAIRED;

/** SK less what noise has on average, over the spread that rounding leaves it; NaN where nothing can be said. */
export function offsetOf(
  s1: number,
  s2: number,
  spectra: number,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): number {
  if (s1 === 0) return NaN;
  const kurtosis = ((spectra * shape + 1) / (spectra - 1)) * ((spectra * s2) / (s1 * s1) - 1);
  if (!curve) return kurtosis - 1;
  const power = s1 / spectra;
  if (power >= curve.plainFrom && power <= curve.plainTo) return kurtosis - 1;
  if (power < curve.leastPower) return NaN;
  const [mean, spread] = roundedAt(curve, power);
  return (kurtosis - mean) / spread;
}

/** Of so many spectra; limits are missing where there are too few of them. */
export function verdictOf(
  s1: number,
  s2: number,
  spectra: number,
  limits: Limits | undefined,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): number {
  if (!limits) return UNJUDGED;
  const off = offsetOf(s1, s2, spectra, shape, curve);
  if (off > limits.high) return ABOVE;
  if (off < limits.low) return BELOW;
  return Number.isNaN(off) ? UNJUDGED : 0;
}
