/**
 * Fewer iterations to a tolerance. StEFCal's step takes G to G′; what the last few steps did to G′ − G says which combination of
 * them would have left the least of it, and from there the next step starts (Anderson's mixing):
 *
 *   G_next = G′ − Σ γ_n ΔG′_n   with γ of the least ‖(G′ − G) − Σ γ_n Δ(G′ − G)_n‖
 *
 * Along what all stations share single stations' steps are slow, and that is but a few directions: they are soon found.
 */

/** Differences kept; the oldest gives way. */
export const MIXED_STEPS = 6;
/** Further off than this, steps say little of each other: every even one is averaged with the gains before it instead. */
export const MIX_BELOW = 0.3;
/** A step so many times larger than the least before it: what was learnt misleads, and is forgotten. */
export const FORGET_ABOVE = 3;
/** Of what a difference has for itself, not in common with younger ones. */
export const LEAST_OWN = 1e-12;

export class Mixing {
  /** Youngest first. */
  private readonly moved: Float64Array[] = [];
  private readonly rests: Float64Array[] = [];
  private last: { readonly after: Float64Array; readonly rest: Float64Array } | undefined;
  private leastChange = Infinity;

  forget(): void {
    this.moved.length = this.rests.length = 0;
    this.last = undefined;
    this.leastChange = Infinity;
  }

  /** Into `gains`, which holds the step's result: where the next begins. */
  next(before: Float64Array, gains: Float64Array, change: number, isEven: boolean): void {
    if (change > FORGET_ABOVE * this.leastChange) this.forget();
    if (change >= MIX_BELOW) {
      if (isEven) for (let n = 0; n < gains.length; n++) gains[n] = (gains[n] + before[n]) / 2;
      return;
    }
    this.leastChange = Math.min(this.leastChange, change);
    const after = gains.slice();
    const rest = after.map((value, n) => value - before[n]);
    if (this.last) {
      const { after: lastAfter, rest: lastRest } = this.last;
      this.moved.unshift(after.map((value, n) => value - lastAfter[n]));
      this.rests.unshift(rest.map((value, n) => value - lastRest[n]));
      this.moved.splice(MIXED_STEPS);
      this.rests.splice(MIXED_STEPS);
    }
    this.last = { after, rest };
    leastSquares(this.rests, rest).forEach((factor, k) => {
      for (let n = 0; n < gains.length; n++) gains[n] -= factor * this.moved[k][n];
    });
  }
}

/** γ of the least ‖wanted − Σ γ_n columns_n‖, by Cholesky; 0 for a column that says nothing of its own. */
function leastSquares(columns: readonly Float64Array[], wanted: Float64Array): number[] {
  const size = columns.length;
  const lower = columns.map(() => new Float64Array(size));
  const factors: number[] = [];
  for (let k = 0; k < size; k++) {
    for (let n = 0; n <= k; n++) {
      let sum = dotOf(columns[k], columns[n]);
      const whole = sum;
      for (let m = 0; m < n; m++) sum -= lower[k][m] * lower[n][m];
      if (n < k) lower[k][n] = lower[n][n] > 0 ? sum / lower[n][n] : 0;
      else lower[k][k] = sum > LEAST_OWN * whole ? Math.sqrt(sum) : 0;
    }
    let sum = dotOf(columns[k], wanted);
    for (let m = 0; m < k; m++) sum -= lower[k][m] * factors[m];
    factors.push(lower[k][k] > 0 ? sum / lower[k][k] : 0);
  }
  for (let k = size - 1; k >= 0; k--) {
    for (let m = k + 1; m < size; m++) factors[k] -= lower[m][k] * factors[m];
    factors[k] = lower[k][k] > 0 ? factors[k] / lower[k][k] : 0;
  }
  return factors;
}

const dotOf = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, value, k) => sum + value * b[k], 0);
