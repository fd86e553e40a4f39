/**
 * Gaussian noise through the transfer function of a requantiser: a real number x of rms σ levels becomes q(x), the
 * nearest whole number, at most the rail. Step k is at ±(k − ½).
 */

/** The Gaussian's density. */
export const density = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** The probability of a Gaussian above x, by continued fraction, or by its series near 0. */
export function tail(x: number): number {
  if (x < 0) return 1 - tail(-x);
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

/** E[x·q]/σ: the factor by which rounding scales a weak common signal, Σ_k 2 φ((k − ½)/σ). */
export function crossOfRounded(rmsLevels: number, rail: number): number {
  let sum = 0;
  for (let k = 1; k <= rail; k++) sum += 2 * density((k - 0.5) / rmsLevels);
  return sum;
}

/** E[q²] = Σ_k (2k − 1) · 2 Q((k − ½)/σ): each step k adds k² − (k − 1)² times the probability beyond it. */
export function powerOfRounded(rmsLevels: number, rail: number): number {
  let sum = 0;
  for (let k = 1; k <= rail; k++) {
    const edge = (k - 0.5) / rmsLevels;
    if (edge > 37) break;
    sum += 2 * (2 * k - 1) * tail(edge);
  }
  return sum;
}
