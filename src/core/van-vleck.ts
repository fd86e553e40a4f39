/**
 * From the mean products of rounded noise back to those of the noise itself (van Vleck's correction, for any number of
 * levels). Two Gaussians of rms σ₁ and σ₂ levels, correlated by ρ, leave the staircase (rounded-noise.ts) with
 *
 *   E[q₁ q₂] = Σ_n ρⁿ/n! · h_n(σ₁) h_n(σ₂),   h_n(σ) = E[q(σz) He_n(z)] = Σ_k 2 φ(e_k) He_{n−1}(e_k),   e_k = (k − ½)/σ,
 *
 * n odd (Mehler). What one has alone, its mean square, tells σ; that pair's mean product then tells ρ.
 */
import { density, powerOfRounded } from './rounded-noise.js';

/** What is known of an input from its power: its rms before rounding, and h_n of n = 1, 3, 5, … */
export interface RoundedInput {
  readonly rms: number;
  readonly h: Float64Array;
}

/** n = 1 … 27: enough for noise of half a level that is nine tenths alike. */
const ORDERS = 14;
const PER_OCTAVE = 64;
/** In levels: below it nearly all numbers are 0. */
const LEAST_RMS = 0.3;

const factorials = Float64Array.from({ length: ORDERS }, (_, k) => {
  let product = 1;
  for (let n = 2; n <= 2 * k + 1; n++) product *= n;
  return product;
});

export class VanVleck {
  /** Of each tabulated rms: log₂ of its rounded power, of σ²/power, and h. */
  private readonly logPowers: Float64Array;
  private readonly logRatios: Float64Array;
  private readonly rows: readonly Float64Array[];

  /** `rail`: the largest level, 7 of 4 bits and 127 of 8. */
  constructor(readonly rail: number) {
    // Up to noise whose rms is the rail: beyond it the power says little of the rms.
    const [first, last] = [Math.log2(LEAST_RMS), Math.log2(rail)];
    const points = 1 + Math.ceil((last - first) * PER_OCTAVE);
    const rms = Float64Array.from(
      { length: points },
      (_, n) => 2 ** (first + ((last - first) * n) / (points - 1)),
    );
    const powers = rms.map((one) => powerOfRounded(one, rail));
    this.logPowers = powers.map((power) => Math.log2(power));
    this.logRatios = powers.map((power, n) => Math.log2(rms[n] ** 2 / power));
    this.rows = Array.from(rms, (one) => hermite(one, rail));
  }

  /** From the mean square of rounded numbers; undefined where it is too weak or too strong to tell. */
  input(meanSquare: number): RoundedInput | undefined {
    const log = Math.log2(meanSquare);
    const { logPowers } = this;
    const last = logPowers.length - 1;
    if (!(log >= logPowers[0] && log <= logPowers[last])) return undefined;
    let [low, high] = [0, last];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (logPowers[middle] <= log) low = middle;
      else high = middle;
    }
    const part = (log - logPowers[low]) / (logPowers[high] - logPowers[low]);
    const ratio = this.logRatios[low] + part * (this.logRatios[high] - this.logRatios[low]);
    const [from, to] = [this.rows[low], this.rows[high]];
    return { rms: Math.sqrt(meanSquare * 2 ** ratio), h: from.map((one, k) => one + part * (to[k] - one)) };
  }

  /** The covariance before rounding, from the mean product after it. */
  covariance(meanProduct: number, x: RoundedInput, y: RoundedInput): number {
    let rho = meanProduct / (x.h[0] * y.h[0]);
    for (let turn = 0; turn < NEWTON_TURNS; turn++) {
      let [value, slope] = [0, 0];
      let power = 1;
      for (let k = 0; k < ORDERS; k++) {
        const weight = (x.h[k] * y.h[k]) / factorials[k];
        slope += (2 * k + 1) * weight * power;
        power *= rho;
        value += weight * power;
        power *= rho;
      }
      rho -= (value - meanProduct) / slope;
    }
    return rho * x.rms * y.rms;
  }
}

/** Steps are small to begin with, and each doubles the digits. */
const NEWTON_TURNS = 4;

/** h_n of n = 1, 3, …; He_0 = 1, He_1 = x, He_{n+1} = x He_n − n He_{n−1}. */
function hermite(rms: number, rail: number): Float64Array {
  const h = new Float64Array(ORDERS);
  for (let k = 1; k <= rail; k++) {
    const x = (k - 0.5) / rms;
    const weight = 2 * density(x);
    if (weight === 0) break;
    let [before, at] = [0, 1];
    for (let n = 0; n < 2 * ORDERS - 1; n++) {
      if (n % 2 === 0) h[n / 2] += weight * at;
      [before, at] = [at, x * at - n * before];
    }
  }
  return h;
}
