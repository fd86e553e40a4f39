/**
 * From the mean products of rounded noise to those of the unrounded noise (van Vleck correction, for any number of
 * levels). Two Gaussians of rms σ₁ and σ₂ levels, correlated by ρ, have after rounding (rounded-noise.ts)
 *
 *   E[q₁ q₂] = Σ_n ρⁿ/n! · h_n(σ₁) h_n(σ₂),   h_n(σ) = E[q(σz) He_n(z)] = Σ_k 2 φ(e_k) He_{n−1}(e_k),   e_k = (k − ½)/σ,
 *
 * n odd (Mehler). The mean square of each input determines σ; the mean product of the pair then determines ρ.
 *
 * The series converges slowly for strongly correlated noise. There the sum over pairs of steps is used instead, from ρ
 * = 1 down: dE/dρ = Σ_jk φ₂(e_j, e_k; ρ) (Price).
 */
import { density, powerOfRounded, tail } from './rounded-noise.js';

/** What the power of an input determines: its rms before rounding, and h_n of n = 1, 3, 5, … */
export interface RoundedInput {
  readonly rms: number;
  readonly h: Float64Array;
  /** The part of its rounded power in orders beyond those of h. */
  readonly beyond: number;
}

/** n = 1 … 27: enough for noise of 2.5 levels with correlation 0.9. */
const ORDERS = 14;
/** Relative to the correlation: the series is used only if the omitted orders are below this. */
const TOLERANCE = 1e-3;
const PER_OCTAVE = 64;
/** In levels: below this, nearly all numbers are 0. */
const LEAST_RMS = 0.3;

const factorials = Float64Array.from({ length: ORDERS }, (_, k) => {
  let product = 1;
  for (let n = 2; n <= 2 * k + 1; n++) product *= n;
  return product;
});

export class VanVleck {
  /** For each tabulated rms: log₂ of its rounded power, of σ²/power, and h. */
  private readonly logPowers: Float64Array;
  private readonly logRatios: Float64Array;
  private readonly rows: readonly Float64Array[];

  private static readonly known = new Map<number, VanVleck>();

  /** The table takes 0.1 s to compute and never changes: one for each rail. */
  static of(rail: number): VanVleck {
    const made = VanVleck.known.get(rail) ?? new VanVleck(rail);
    VanVleck.known.set(rail, made);
    return made;
  }

  /** `rail`: the largest level, 7 for 4 bits and 127 for 8. */
  constructor(readonly rail: number) {
    // Up to noise whose rms is the rail: above it the power hardly depends on the rms.
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

  /** From the mean square of rounded numbers; undefined if it is too weak or too strong to determine the rms. */
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
    const h = from.map((one, k) => one + part * (to[k] - one));
    const within = h.reduce((sum, one, k) => sum + one ** 2 / factorials[k], 0);
    return { rms: Math.sqrt(meanSquare * 2 ** ratio), h, beyond: Math.max(0, meanSquare - within) };
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
    // rho without the orders beyond is never too small.
    const left = Math.sqrt(x.beyond * y.beyond) * Math.min(1, Math.abs(rho)) ** (2 * ORDERS + 1);
    if (left > TOLERANCE * Math.abs(meanProduct))
      rho = Math.sign(meanProduct) * this.nearlyAlike(Math.abs(meanProduct), x.rms, y.rms);
    return rho * x.rms * y.rms;
  }

  /** ρ > 0 by the steps directly: with ρ = cos θ, E is that of ρ = 1 minus ∫ Σ_jk (…) dθ. */
  private nearlyAlike(meanProduct: number, xRms: number, yRms: number): number {
    const [xs, ys] = [xRms, yRms].map((rms) => stepsOf(rms, this.rail));
    const most = productOfSame(xs, ys);
    // Noise can make a mean larger than any correlation would: scaled in proportion.
    if (meanProduct >= most) return meanProduct / most;
    const panel = 0.25 / Math.max(1, xRms, yRms);
    let wanted = most - meanProduct;
    for (let from = 0; from < Math.PI / 2; from += panel) {
      const fall = integral(xs, ys, from, from + panel);
      if (fall < wanted) {
        wanted -= fall;
        continue;
      }
      let theta = from + (panel * wanted) / fall;
      for (let turn = 0; turn < NEWTON_TURNS; turn++) {
        const off = integral(xs, ys, from, theta) - wanted;
        const slope = fallAt(xs, ys, theta);
        if (!(slope > 0)) break;
        theta = Math.min(from + panel, Math.max(from, theta - off / slope));
      }
      return Math.cos(theta);
    }
    return 0;
  }
}

/** Steps of the transfer function in units of the rms; steps with negligible probability are left out. */
const stepsOf = (rms: number, rail: number): Float64Array =>
  Float64Array.from({ length: Math.min(rail, Math.ceil(MOST_STEP * rms)) }, (_, k) => (k + 0.5) / rms);
const MOST_STEP = 8;

/** E[q₁ q₂] of one Gaussian in both inputs: Σ_jk 2 Q(the larger of the two steps). */
function productOfSame(xs: Float64Array, ys: Float64Array): number {
  let sum = 0;
  for (const x of xs) sum += 2 * tail(x) * ys.filter((y) => y <= x).length;
  for (const y of ys) sum += 2 * tail(y) * xs.filter((x) => x < y).length;
  return sum;
}

/** −dE/dθ = Σ_jk e^(−a²/2 − (b − a·cos θ)²/(2 sin²θ))/2π over pairs of steps; by symmetry half of them are computed. */
function fallAt(xs: Float64Array, ys: Float64Array, theta: number): number {
  const [c, s] = [Math.cos(theta), Math.sin(theta)];
  let sum = 0;
  for (const a of xs) {
    // Steps are evenly spaced from half a step on: only those within reach are summed.
    const step = 2 * ys[0];
    const first = Math.max(0, Math.ceil((a * c - REACH * s) / step - 0.5));
    const end = Math.min(ys.length, Math.floor((a * c + REACH * s) / step + 0.5));
    let near = 0;
    for (let k = first; k < end; k++) near += Math.exp(-0.5 * ((ys[k] - a * c) / s) ** 2);
    for (let k = 0; k < ys.length && ys[k] + a * c < REACH * s; k++)
      near += Math.exp(-0.5 * ((ys[k] + a * c) / s) ** 2);
    sum += Math.exp(-0.5 * a * a) * near;
  }
  return sum / Math.PI;
}

/** In standard deviations: farther steps add less than a millionth. */
const REACH = 5.5;

/** The four Gauss–Legendre points of (−1, 1). */
const POINTS = [-0.861136311594053, -0.339981043584856, 0.339981043584856, 0.861136311594053] as const;
const WEIGHTS = [0.347854845137454, 0.652145154862546, 0.652145154862546, 0.347854845137454] as const;

function integral(xs: Float64Array, ys: Float64Array, from: number, to: number): number {
  const [middle, half] = [(from + to) / 2, (to - from) / 2];
  return half * POINTS.reduce((sum, at, n) => sum + WEIGHTS[n] * fallAt(xs, ys, middle + half * at), 0);
}

/** The first steps are small, and each iteration doubles the digits. */
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
