/** What is said of a window: codes, and how far a spectral kurtosis lies from noise's own. */
import type { PowerShape } from './limits.js';
import { STEPS_PER_OCTAVE, type RoundedCurve } from './rounded.js';

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
  const place = (Math.log2(power) - curve.firstOctave) * STEPS_PER_OCTAVE;
  const last = curve.means.length - 1;
  if (place >= last) return (kurtosis - curve.means[last]) / curve.spreads[last];
  const n = Math.floor(place);
  const part = place - n;
  const between = (of: Float64Array): number => of[n] + part * (of[n + 1] - of[n]);
  return (kurtosis - between(curve.means)) / between(curve.spreads);
}
