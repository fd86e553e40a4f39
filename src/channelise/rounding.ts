/**
 * What rounding leaves of noise. A real or imaginary part x, Gaussian of rms σ levels, becomes q(x): the nearest whole
 * number, at most the rail. Each step of that staircase lies at k − ½ and adds 1 beyond it on either side:
 *
 *   E[x·q] = σ · Σ_k 2 φ((k − ½)/σ)          E[q²] = Σ_k (2k − 1) · 2 Q((k − ½)/σ)
 */

export interface Rounding {
  /** E[x q]² / (σ² E[q²]): what is left of the signal over noise of a weak correlation, 1 without rounding. */
  readonly efficiency: number;
  /** E[q²]/σ² − 1: by so much the power of a lone input is off. */
  readonly powerBias: number;
}

/** What rounding to whole levels up to a rail makes of Gaussian noise of an rms. */
export function rounding(rmsLevels: number, rail: number): Rounding {
  let cross = 0;
  let square = 0;
  for (let k = 1; k <= rail; k++) {
    const edge = (k - 0.5) / rmsLevels;
    cross += 2 * density(edge);
    square += 2 * (2 * k - 1) * tail(edge);
  }
  return { efficiency: square > 0 ? cross ** 2 / square : 0, powerBias: square / rmsLevels ** 2 - 1 };
}

const density = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** The part of a Gaussian above x ≥ 0: the fraction that continues itself, or its series near 0. */
function tail(x: number): number {
  if (x > 37) return 0;
  if (x < 3) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * sum; n++) {
      term *= (-x * x) / (2 * n);
      sum += term / (2 * n + 1);
    }
    return 0.5 - sum / Math.sqrt(2 * Math.PI);
  }
  let fraction = x;
  for (let n = 60; n >= 1; n--) fraction = x + n / fraction;
  return density(x) / fraction;
}
