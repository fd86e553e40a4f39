/** How much of the sky a model explains, against what noise allows. */
import type { Calibration, CalibrationPlan } from '../../calibrate/index.js';
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { productCount } from '../../core/product-counts.js';
import { median } from '../../core/median.js';

export interface ModelCheck {
  /** What the model leaves of the sky's power, noise taken away: 0 is all of it explained. NaN where noise hides the sky. */
  readonly unexplained: number;
  /** The residual that noise alone would leave, as a fraction of the data's amplitude; NaN where nothing tells the noise. */
  readonly noiseResidual: number;
}

/** Above it gains follow something else than the model says, and would put the sky where it is not. */
export const MOST_UNEXPLAINED = 1 / 3;
/** Above it part of the sky is missing in the model, which is told. */
export const SOME_UNEXPLAINED = 0.1;
/** The sky's power over the error of the noise's, before anything is said. */
const LEAST_SKY = 5;

interface Sums {
  total: number;
  noise: number;
  pairs: number;
  inputs: number;
}

/** The middle over channels and polarisations. */
export function checkModel(
  integration: Integration,
  calibration: Calibration,
  plan: CalibrationPlan,
): ModelCheck {
  const found = calibration.solutions
    .filter(({ residual, converged }) => converged && !Number.isNaN(residual))
    .map(({ channel, polarisation, residual }) => {
      const { total, noise, pairs, inputs } = sumsOf(integration, calibration, plan, channel, polarisation);
      // Gains take their share of the noise with them: two numbers an input, of two a pair.
      const left = noise * Math.max(0, 1 - inputs / pairs);
      const sky = total - noise;
      const isSeen = sky > (LEAST_SKY * noise) / Math.sqrt(pairs);
      return {
        unexplained: isSeen ? Math.max(0, residual ** 2 * total - left) / sky : Number.NaN,
        noiseResidual: Math.sqrt(left / total),
      };
    });
  const middle = (values: readonly number[]): number =>
    values.some(Number.isNaN) || values.length === 0 ? Number.NaN : median([...values]);
  return {
    unexplained: middle(found.map(({ unexplained }) => unexplained)),
    noiseResidual: middle(found.map(({ noiseResidual }) => noiseResidual)),
  };
}

/** Σ w|V|², and Σ w·P_i·P_j/N that noise puts there, by the powers of the autocorrelations; NaN where there are none. */
function sumsOf(
  integration: Integration,
  { solved }: Calibration,
  { usedBaselines, baselines }: CalibrationPlan,
  c: number,
  p: number,
): Sums {
  const { visibilities, stations, polarisations } = integration;
  const inputs = stations * polarisations;
  const valueAt = (b: number): number => 2 * (((c * baselines + b) * polarisations + p) * polarisations + p);
  const powers = Array.from({ length: stations }, (_, s) => {
    const b = baselineIndex(s, s);
    const count = productCount(integration, c * baselines + b, p, p);
    return count > 0 ? visibilities[valueAt(b)] / count : Number.NaN;
  });
  const sums: Sums = { total: 0, noise: 0, pairs: 0, inputs: 0 };
  const seen = new Set<number>();
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < i; j++) {
      const b = baselineIndex(i, j);
      const count = productCount(integration, c * baselines + b, p, p);
      const at = (s: number): number => c * inputs + s * polarisations + p;
      if (usedBaselines[b] === 0 || !(count > 0) || solved[at(i)] * solved[at(j)] === 0) continue;
      const value = valueAt(b);
      sums.total += (visibilities[value] ** 2 + visibilities[value + 1] ** 2) / count;
      sums.noise += powers[i] * powers[j];
      sums.pairs++;
      seen.add(i).add(j);
    }
  }
  return { ...sums, inputs: seen.size };
}
