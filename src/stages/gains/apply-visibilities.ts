/** Visibilities divided by gains, for further processing in other software. */
import { baselineCount, gainsCA, visibilitiesCBPP, weightsCBPP } from '../../core/axes.js';
import type { PassThrough, Integration } from '../../core/blocks.js';
import { restored, storedOf } from '../stored.js';
import type { Calibrated } from '../sky-image.js';
import { adjoint, inverseMatrix, timesMatrix } from '../../core/jones.js';

interface Applied {
  readonly integration: Integration;
  /** Values with weight that were flagged here. */
  readonly flagged: number;
  /** Those flagged because they have no gain, not because the phase of cross hands is unknown. */
  readonly withoutGain: number;
  /** Values that had weight. */
  readonly values: number;
}

/**
 * V_ij/(g_i conj(g_j)), or with leakage G_i⁻¹ V_ij G_j⁻ᴴ; weights as they were. Products of an input without a gain are
 * flagged and unchanged; cross hands are flagged where the phase between X and Y is unknown.
 */
export function applyGains(integration: Integration, calibrated: Calibrated): Applied {
  const { gains, crossHands } = calibrated;
  const { channels, stations, polarisations } = integration;
  const baselines = baselineCount(stations);
  const inputs = stations * polarisations;
  const stored = storedOf(integration);
  const matrices = overMatrices(integration, stored, calibrated);
  const solved = matrices?.solved ?? calibrated.solved;
  const means = matrices?.means ?? new Float64Array(stored.means.length);
  const weights = new Float64Array(stored.weights.length);
  let [at, flagged, withoutGain, values] = [0, 0, 0, 0];
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        // With matrices each result mixes all four products: one that is flagged invalidates all four.
        const four = stored.weights.subarray(at, at + polarisations ** 2);
        const isWhole = !matrices || four.every((weight) => weight > 0);
        for (let p = 0; p < polarisations; p++) {
          for (let q = 0; q < polarisations; q++, at++) {
            const [atI, atJ] = [c * inputs + i * polarisations + p, c * inputs + j * polarisations + q];
            const isSolved = solved[atI] === 1 && solved[atJ] === 1;
            if (!matrices) {
              const [re, im] = [stored.means[2 * at], stored.means[2 * at + 1]];
              const pairRe = gains[2 * atI] * gains[2 * atJ] + gains[2 * atI + 1] * gains[2 * atJ + 1];
              const pairIm = gains[2 * atI + 1] * gains[2 * atJ] - gains[2 * atI] * gains[2 * atJ + 1];
              const power = pairRe ** 2 + pairIm ** 2;
              means[2 * at] = isSolved ? (re * pairRe + im * pairIm) / power : re;
              means[2 * at + 1] = isSolved ? (im * pairRe - re * pairIm) / power : im;
            }
            const weight = stored.weights[at];
            const hasGain = isWhole && isSolved;
            const isGood = hasGain && (p === q || crossHands?.[c] === 1);
            weights[at] = isGood ? weight : -Math.abs(weight);
            if (!(weight > 0)) continue;
            values++;
            if (!isGood) flagged++;
            if (!hasGain) withoutGain++;
          }
        }
      }
    }
  }
  const passThrough: PassThrough = {
    ...stored,
    means: visibilitiesCBPP(means, channels, baselines, polarisations),
    weights: weightsCBPP(weights, channels, baselines, polarisations),
  };
  return {
    integration: restored(integration, passThrough, 'changed'),
    flagged,
    withoutGain,
    values,
  };
}

/** For code that takes one gain per input: matrices are applied to the visibilities beforehand, and the gains are 1. */
export function withoutLeakage(
  integration: Integration,
  calibrated: Calibrated,
): { readonly integration: Integration; readonly calibrated: Calibrated } {
  const matrices = overMatrices(integration, undefined, calibrated);
  if (!matrices) return { integration, calibrated };
  const { channels, stations } = integration;
  const gains = gainsCA(new Float64Array(4 * channels * stations), channels, 2 * stations);
  for (let n = 0; n < gains.length; n += 2) gains[n] = 1;
  const { crossHands } = calibrated;
  return {
    integration: applyGains(integration, calibrated).integration,
    calibrated: { gains, solved: matrices.solved, crossHands },
  };
}

interface OverMatrices {
  /** G_i⁻¹ V_ij G_j⁻ᴴ : [c][b][2][2], unchanged where a station has no matrix. */
  readonly means: Float64Array;
  /** solved : [c][a], 1 where both inputs of the station are known: a matrix needs both. */
  readonly solved: Uint8Array;
}

/** Undefined where there is no leakage. Without `stored` only `solved` is computed. */
function overMatrices(
  { channels, stations, polarisations }: Integration,
  stored: PassThrough | undefined,
  { gains, leakage, solved }: Calibrated,
): OverMatrices | undefined {
  if (!leakage || polarisations === 1) return undefined;
  const known = new Uint8Array(solved.length);
  const inverses = Array.from({ length: channels * stations }, (_, s) => {
    if (solved[2 * s] === 0 || solved[2 * s + 1] === 0) return undefined;
    // [[g_X, d_X], [d_Y, g_Y]]: rows are what is recorded, columns the sky's components.
    const inverse = inverseMatrix([
      ...gains.subarray(4 * s, 4 * s + 2),
      ...leakage.subarray(4 * s, 4 * s + 4),
      ...gains.subarray(4 * s + 2, 4 * s + 4),
    ]);
    if (inverse) known.fill(1, 2 * s, 2 * s + 2);
    return inverse;
  });
  const means = stored ? stored.means.slice() : new Float64Array(0);
  if (stored) {
    let at = 0;
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++, at += 8) {
          const [left, right] = [inverses[c * stations + i], inverses[c * stations + j]];
          if (!left || !right) continue;
          means.set(timesMatrix(timesMatrix(left, means.subarray(at, at + 8)), adjoint(right)), at);
          // A station's power is real; four products would leave a rounding error.
          if (i === j) means[at + 1] = means[at + 7] = 0;
        }
      }
    }
  }
  return { means, solved: known };
}
