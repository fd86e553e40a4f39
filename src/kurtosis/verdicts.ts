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
  const { means, spreads } = curve;
  const last = means.length - 1;
  if (place >= last) return (kurtosis - means[last]) / spreads[last];
  // Written out: this is asked of every window where levels are few.
  const n = Math.floor(place);
  const part = place - n;
  const mean = means[n] + part * (means[n + 1] - means[n]);
  return (kurtosis - mean) / (spreads[n] + part * (spreads[n + 1] - spreads[n]));
}

/** Of the power, so near that the curve is the same to a ten-thousandth of SK. */
const NEAR = 0.01;

/** offsetOf for complex voltages of few levels, of which a mean is taken: inputs of one level share one look at the curve. */
export class NearbyCurve {
  private known = 0;
  private mean = 1;
  private spread = 1;

  constructor(private readonly curve: RoundedCurve) {}

  offsetOf(s1: number, s2: number, spectra: number): number {
    const power = s1 / spectra;
    if (!(power >= this.curve.leastPower)) return NaN;
    if (Math.abs(power - this.known) > NEAR * this.known) {
      // Two kurtoses tell mean and spread: (1 − mean)/spread, and the slope.
      const unit = s1 * s1;
      const at = (kurtosis: number): number =>
        offsetOf(
          s1,
          (unit * (1 + (kurtosis * (spectra - 1)) / (spectra + 1))) / spectra,
          spectra,
          1,
          this.curve,
        );
      const [atOne, slope] = [at(1), at(2) - at(1)];
      this.spread = 1 / slope;
      this.mean = 1 - atOne / slope;
      this.known = power;
    }
    const kurtosis = ((spectra + 1) / (spectra - 1)) * ((spectra * s2) / (s1 * s1) - 1);
    return (kurtosis - this.mean) / this.spread;
  }
}
