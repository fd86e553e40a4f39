/**
 * Fewer iterations to a tolerance. StEFCal's step takes G to G′; the changes of G′ − G in the last few steps determine
 * the combination of them with the least remainder, where the next step starts (Anderson's mixing):
 *
 *   G_next = G′ − Σ γ_n ΔG′_n   with γ of the least ‖(G′ − G) − Σ γ_n Δ(G′ − G)_n‖
 *
 * Single stations' steps converge slowly along what all stations share, but those are only a few directions, which are
 * soon found.
 */

/** Number of differences kept; the oldest is dropped. */
export const MIXED_STEPS = 6;
/** Above this change, steps are not related enough: every even one is averaged with the gains before it instead. */
export const MIX_BELOW = 0.3;
/** After a step so many times larger than the smallest before it, the differences are dropped. */
export const FORGET_ABOVE = 3;
/** The least independent part of a difference relative to newer ones. */
export const LEAST_OWN = 1e-12;

export class Mixing {
  /** Newest first. */
  private readonly moved: Float64Array[] = [];
  private readonly rests: Float64Array[] = [];
  private last: { readonly after: Float64Array; readonly rest: Float64Array } | undefined;
  private leastChange = Infinity;

  forget(): void {
    this.moved.length = this.rests.length = 0;
    this.last = undefined;
    this.leastChange = Infinity;
  }

  /** Into `gains`, which holds the step's result: the start of the next. */
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

/** γ of the least ‖wanted − Σ γ_n columns_n‖, by Cholesky; 0 for a dependent column. */
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

export const dotOf = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, value, k) => sum + value * b[k], 0);
