/**
 * The limits of the spectral kurtosis of noise. Of M powers p with sums S1 = Σp and S2 = Σp²
 *
 *   SK = (M d + 1)/(M − 1) · (M S2/S1² − 1)
 *
 * is 1 on average where p is noise; d is 1 where p is the power of a complex voltage, ½ of a real one. Its distribution
 * follows from w = p/S1, which is a Dirichlet's: the first four moments are exact, and the curve of Pearson's family
 * that has them gives the limits (Nita & Gary, MNRAS 406, L60, 2010). The curve is of type IV here: it has no simple
 * integral, so it is integrated numerically.
 */
import { refuse } from '../core/errors.js';
import { tail } from '../core/rounded-noise.js';

/** 1: of complex voltages; 0.5: of real ones. */
export type PowerShape = 1 | 0.5;

/** As distances from the mean, `low` below and `high` above 0. */
interface Limits {
  readonly low: number;
  readonly high: number;
}

interface Moments {
  readonly variance: number;
  readonly third: number;
  readonly fourth: number;
}

/** a(a + 1)…(a + n − 1) */
function rising(a: number, n: number): number {
  let product = 1;
  for (let k = 0; k < n; k++) product *= a + k;
  return product;
}

/** Central moments of SK of M powers. */
export function kurtosisMoments(spectra: number, shape: PowerShape): Moments {
  const [m, d] = [spectra, shape];
  const two = rising(d, 2);
  const four = rising(d, 4);
  const six = rising(d, 6);
  const eight = rising(d, 8);
  const pairs = m * (m - 1);
  const triples = pairs * (m - 2);
  // E[(Σw²)^k]: by which of the k factors are of the same spectrum.
  const t1 = (m * two) / rising(m * d, 2);
  const t2 = (m * four + pairs * two ** 2) / rising(m * d, 4);
  const t3 = (m * six + 3 * pairs * four * two + triples * two ** 3) / rising(m * d, 6);
  const t4 =
    (m * eight +
      pairs * (4 * six * two + 3 * four ** 2) +
      6 * triples * four * two ** 2 +
      triples * (m - 3) * two ** 4) /
    rising(m * d, 8);
  const scale = ((m * d + 1) / (m - 1)) * m;
  return {
    variance: scale ** 2 * (t2 - t1 ** 2),
    third: scale ** 3 * (t3 - 3 * t2 * t1 + 2 * t1 ** 3),
    fourth: scale ** 4 * (t4 - 4 * t3 * t1 + 6 * t2 * t1 ** 2 - 3 * t1 ** 4),
  };
}

/** Of the mean of so many independent ones. */
export const momentsOfMean = ({ variance, third, fourth }: Moments, count: number): Moments => ({
  variance: variance / count,
  third: third / count ** 2,
  fourth: (3 * variance ** 2) / count ** 2 + (fourth - 3 * variance ** 2) / count ** 3,
});

/** Steps of the sum for each standard deviation, and its range. */
const STEPS = 32;
const [BELOW, ABOVE] = [12, 40];

/** The limits that noise exceeds, on either side, as often as a Gaussian exceeds so many standard deviations. */
export function pearsonLimits(moments: Moments, sigmas: number): Limits {
  const sigma = Math.sqrt(moments.variance);
  const skew = moments.third / sigma ** 3;
  const beta1 = skew ** 2;
  const beta2 = moments.fourth / sigma ** 4;
  // In units of the standard deviation: p'/p = −(x + b1)/(b0 + b1 x + b2 x²).
  const scale = 10 * beta2 - 12 * beta1 - 18;
  const b0 = (4 * beta2 - 3 * beta1) / scale;
  const b1 = (skew * (beta2 + 3)) / scale;
  const b2 = (2 * beta2 - 3 * beta1 - 6) / scale;
  const below = (x: number): number => b0 + b1 * x + b2 * x * x;
  const step = 1 / STEPS;
  const first = -BELOW * STEPS;
  const values = new Float64Array((BELOW + ABOVE) * STEPS + 1);
  /** From the mode, −b1, outwards, by the midpoint of each step. */
  const from = Math.round(-b1 * STEPS) - first;
  for (const way of [1, -1]) {
    let log = 0;
    for (let n = from; n >= 0 && n < values.length; n += way) {
      values[n] = Math.exp(log);
      const middle = (first + n + way / 2) * step;
      if (below((first + n + way) * step) <= 0) break;
      log -= (way * step * (middle + b1)) / below(middle);
    }
  }
  let sum = 0;
  for (const value of values) sum += value;
  const wanted = tail(sigmas) * sum;
  const at = (n: number): number => sigma * (first + n) * step;
  return { low: at(quantile(values, wanted, 1)), high: at(quantile(values, wanted, -1)) };
}

/** Where the sum from one end reaches `wanted`, in steps and parts of one. */
function quantile(values: Float64Array, wanted: number, way: 1 | -1): number {
  let sum = 0;
  for (let n = way > 0 ? 0 : values.length - 1; n >= 0 && n < values.length; n += way) {
    if (sum + values[n] >= wanted) return n - way * 0.5 + way * ((wanted - sum) / values[n]);
    sum += values[n];
  }
  return refuse('kurtosis', 'the limits are too far out', 'ask for fewer sigmas');
}
