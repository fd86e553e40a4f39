/** How much of the sky's power a model explains, compared with the noise. */
import type { Calibration, CalibrationPlan } from '../../calibrate/index.js';
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { productCount } from '../../core/product-counts.js';
import { median } from '../../core/median.js';

export interface ModelCheck {
  /**
   * The sky's power that the model does not explain, with noise subtracted: 0 is all explained. NaN where noise hides
   * the sky.
   */
  readonly unexplained: number;
  /**
   * The residual that noise alone would leave, as a fraction of the data's amplitude; NaN where the noise is unknown.
   */
  readonly noiseResidual: number;
  /** The fraction of the data's power that the model leaves, noise included. */
  readonly left: number;
}

/** Above it gains follow something else than the model, and would shift the sky. */
export const MOST_UNEXPLAINED = 1 / 3;
/** Above it part of the sky is missing in the model, which is reported. */
export const SOME_UNEXPLAINED = 0.1;
/** The least sky power over the error of the noise power for a report. */
const LEAST_SKY = 5;

/**
 * The least sky power over the least noise, where weights do not give the noise: the true noise may be a few times
 * larger, and a right model would be refused where there is little else.
 */
const LEAST_OVER_FLOOR = 10;

interface Sums {
  total: number;
  /** From the weights, as numbers of samples. */
  noise: number;
  /** The least possible: every sample that bandwidth and time allow. */
  floor: number;
  pairs: number;
  inputs: number;
}

/** The median over channels and polarisations. Weights are assumed to be numbers of samples where no width is given. */
export function checkModel(
  integration: Integration,
  calibration: Calibration,
  plan: CalibrationPlan,
  channelWidthHz = Infinity,
): ModelCheck {
  const most = channelWidthHz * integration.durationS;
  const found = calibration.solutions
    .filter(({ residual, converged }) => converged && !Number.isNaN(residual))
    .map(({ channel, polarisation, residual }) => {
      const sums = sumsOf(integration, calibration, plan, { c: channel, p: polarisation, most });
      // Gains absorb part of the noise: two numbers an input, of two a pair.
      const share = Math.max(0, 1 - sums.inputs / sums.pairs);
      return { ...sums, share, residual };
    });
  // Foreign files weigh by anything. Where the residual is below the noise that weights imply, they are no sample
  // counts.
  const isCounted = !(
    most < Infinity &&
    middle(found.map(({ residual, total, noise, share }) => (residual ** 2 * total) / (noise * share))) <
      1 - LEAST_SKY / Math.sqrt(middle(found.map(({ pairs }) => pairs)))
  );
  const tested = found.map(({ residual, total, noise: counted, floor, share, pairs }) => {
    const noise = isCounted ? counted : floor;
    const sky = total - noise;
    const isSeen = isCounted ? sky > (LEAST_SKY * noise) / Math.sqrt(pairs) : sky > LEAST_OVER_FLOOR * noise;
    return {
      unexplained: isSeen ? Math.max(0, residual ** 2 * total - share * noise) / sky : Number.NaN,
      noiseResidual: Math.sqrt((share * noise) / total),
    };
  });
  return {
    unexplained: middle(tested.map(({ unexplained }) => unexplained)),
    noiseResidual: middle(tested.map(({ noiseResidual }) => noiseResidual)),
    left: middle(found.map(({ residual }) => residual ** 2)),
  };
}

/** The median of known values, where they are at least half. */
function middle(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length > 0 && 2 * known.length >= values.length ? median(known) : Number.NaN;
}

/**
 * Σ w|V|², and Σ w·P_i·P_j/N that noise adds to it, by the powers of the autocorrelations; NaN where fewer than half
 * have one. N is the weight, or at most bandwidth × time.
 */
function sumsOf(
  integration: Integration,
  { solved }: Calibration,
  { usedBaselines, baselines }: CalibrationPlan,
  { c, p, most }: { readonly c: number; readonly p: number; readonly most: number },
): Sums {
  const { visibilities, stations, polarisations } = integration;
  const inputs = stations * polarisations;
  const valueAt = (b: number): number => 2 * (((c * baselines + b) * polarisations + p) * polarisations + p);
  const isUsed = (s: number): boolean => solved[c * inputs + s * polarisations + p] === 1;
  const own = Array.from({ length: stations }, (_, s) => {
    const b = baselineIndex(s, s);
    const count = productCount(integration, c * baselines + b, p, p);
    return count > 0 ? visibilities[valueAt(b)] / count : Number.NaN;
  });
  const typical = middle(own.filter((_, s) => isUsed(s)));
  const powers = own.map((power) => (Number.isNaN(power) ? typical : power));
  const sums: Sums = { total: 0, noise: 0, floor: 0, pairs: 0, inputs: 0 };
  const seen = new Set<number>();
  let largest = 0;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < i; j++) {
      const b = baselineIndex(i, j);
      const count = productCount(integration, c * baselines + b, p, p);
      if (usedBaselines[b] === 0 || !(count > 0) || !isUsed(i) || !isUsed(j)) continue;
      const value = valueAt(b);
      sums.total += (visibilities[value] ** 2 + visibilities[value + 1] ** 2) / count;
      sums.noise += powers[i] * powers[j] * Math.max(1, count / most);
      sums.floor += powers[i] * powers[j];
      largest = Math.max(largest, count);
      sums.pairs++;
      seen.add(i).add(j);
    }
  }
  return { ...sums, floor: (sums.floor * largest) / most, inputs: seen.size };
}
