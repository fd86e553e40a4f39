/**
 * A polarised model beside the same without polarisation. Where the model leaves rotations open, matrices fit any signs
 * of its Q, U and V equally well, and wrong ones show as leakage.
 */
import { median } from '../../core/median.js';
import type { CalibratedIntegration } from '../../stages/index.js';
import { leakagesOf } from './summary.js';

export interface BesideUnpolarised {
  /** Of both models: the residual over the data, and the median leakage. */
  readonly residual: number;
  readonly medianLeakage: number;
  readonly unpolarisedResidual: number;
  readonly unpolarisedLeakage: number;
  /** The model that leaves less, by more than noise explains; `neither`: both fit equally. */
  readonly better: 'polarised' | 'unpolarised' | 'neither';
}

/** Sum of squares over its expectation: five standard deviations of one parameter. */
const SIGNIFICANT = 25;

/** Undefined where one of them has no solution. */
export function besideUnpolarised(
  polarised: CalibratedIntegration,
  unpolarised: CalibratedIntegration,
): BesideUnpolarised | undefined {
  const [own, other] = [polarised, unpolarised].map(({ calibration }) => ({
    squared: meanSquare(calibration.solutions.map(({ residual }) => residual)),
    leakages: leakagesOf([calibration]),
  }));
  if (!(own.squared > 0 && other.squared > 0) || own.leakages.length === 0 || other.leakages.length === 0)
    return undefined;
  const excess = (a: number, b: number): number => (a / b - 1) * freedomOf(polarised);
  return {
    residual: Math.sqrt(own.squared),
    medianLeakage: median(own.leakages),
    unpolarisedResidual: Math.sqrt(other.squared),
    unpolarisedLeakage: median(other.leakages),
    better:
      excess(other.squared, own.squared) > SIGNIFICANT
        ? 'polarised'
        : excess(own.squared, other.squared) > SIGNIFICANT
          ? 'unpolarised'
          : 'neither',
  };
}

function meanSquare(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value * value, 0) / known.length;
}

/** Real numbers in the data less those of the matrices. */
function freedomOf({ integration: { counts, channels, stations }, plan }: CalibratedIntegration): number {
  const baselines = counts.length / channels;
  const pairs = counts.filter((count, at) => count > 0 && plan.usedBaselines[at % baselines] === 1).length;
  return Math.max(1, 8 * (pairs - channels * stations));
}
