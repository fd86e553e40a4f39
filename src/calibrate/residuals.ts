/** Residuals that gains leave in the data, whether solved here or shaped afterwards. */
import { baselineIndex } from '../core/axes.js';
import { productCount } from '../core/product-counts.js';
import type { CalibrationInput } from './batch.js';
import type { CalibrationPlan } from './plan.js';
import type { Calibration } from './solve.js';

/** Of each solve k = c·P + p, as `Solution` has it: weighted rms of |V − g M g*| over that of |V|; NaN without data. */
export function residualsOf(
  { stations, polarisations, channels, baselines, usedBaselines }: CalibrationPlan,
  input: CalibrationInput,
  { gains, solved }: Pick<Calibration, 'gains' | 'solved'>,
): Float64Array {
  const { visibilities, model, flaggedInputs } = input;
  const counted = { ...input, polarisations };
  const residuals = new Float64Array(channels * polarisations);
  for (let k = 0; k < residuals.length; k++) {
    const [c, p] = [Math.floor(k / polarisations), k % polarisations];
    const first = c * stations * polarisations + p;
    const isUsed = (s: number): boolean =>
      flaggedInputs[s * polarisations + p] === 0 && solved[first + s * polarisations] === 1;
    let [missed, total] = [0, 0];
    for (let i = 0; i < stations; i++) {
      if (!isUsed(i)) continue;
      for (let j = 0; j <= i; j++) {
        const cell = c * baselines + baselineIndex(i, j);
        const count = productCount(counted, cell, p, p);
        if (usedBaselines[baselineIndex(i, j)] === 0 || !(count > 0) || !isUsed(j)) continue;
        const [atI, atJ] = [2 * (first + i * polarisations), 2 * (first + j * polarisations)];
        const pairRe = gains[atI] * gains[atJ] + gains[atI + 1] * gains[atJ + 1];
        const pairIm = gains[atI + 1] * gains[atJ] - gains[atI] * gains[atJ + 1];
        const value = 2 * ((cell * polarisations + p) * polarisations + p);
        const [re, im] = [visibilities[value] / count, visibilities[value + 1] / count];
        const at = 2 * (cell * polarisations + p);
        const leftRe = re - (pairRe * model[at] - pairIm * model[at + 1]);
        const leftIm = im - (pairRe * model[at + 1] + pairIm * model[at]);
        missed += count * (leftRe * leftRe + leftIm * leftIm);
        total += count * (re * re + im * im);
      }
    }
    residuals[k] = Math.sqrt(missed / total);
  }
  return residuals;
}
