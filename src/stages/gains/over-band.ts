/** Gains of all channels as fewer numbers: one for the band, or an amplitude, a delay and a phase for each input. */
import { gainsCA, type GainsCA } from '../../core/axes.js';

export type OverBand = 'channel' | 'band' | 'delay';

export interface FittedDelay {
  readonly input: number;
  /** How much later the input is than the reference. */
  readonly delayS: number;
  /** Known within ± this, half a turn between the nearest channels: larger delays alias. */
  readonly rangeS: number;
  /** The phase of its gain at the band's middle. */
  readonly phaseRad: number;
  readonly size: number;
  /** The residual as a fraction of the amplitude. */
  readonly residual: number;
}

interface Solved {
  readonly gains: GainsCA;
  readonly solved: Uint8Array;
}

/** Mean over the solved channels. */
export function oneGain({ gains, solved }: Solved, channels: number): Solved {
  const inputs = solved.length / channels;
  const made = new Float64Array(gains.length).fill(Number.NaN);
  const known = new Uint8Array(solved.length);
  for (let a = 0; a < inputs; a++) {
    let [re, im, count] = [0, 0, 0];
    for (let c = 0; c < channels; c++) {
      const at = c * inputs + a;
      if (solved[at] === 0) continue;
      re += gains[2 * at];
      im += gains[2 * at + 1];
      count++;
    }
    if (count === 0) continue;
    for (let c = 0; c < channels; c++) {
      const at = c * inputs + a;
      made.set([re / count, im / count], 2 * at);
      known[at] = 1;
    }
  }
  return { gains: gainsCA(made, channels, inputs), solved: known };
}

/**
 * g(f) = size·e^(i(φ − 2π(f − f₀)τ)), f₀ the band's middle: the τ at which the channels' sum is largest, found on a
 * grid of a quarter of the band's resolution and refined by least squares in phase. Delays are known up to whole turns
 * between neighbouring channels.
 */
export function fitDelays(
  { gains, solved }: Solved,
  frequenciesHz: Float64Array,
): Solved & { readonly delays: readonly FittedDelay[] } {
  const channels = frequenciesHz.length;
  const inputs = solved.length / channels;
  const made = new Float64Array(gains.length).fill(Number.NaN);
  const known = new Uint8Array(solved.length);
  const middleHz = (frequenciesHz[0] + frequenciesHz[channels - 1]) / 2;
  const delays: FittedDelay[] = [];
  for (let a = 0; a < inputs; a++) {
    const own = Array.from(frequenciesHz, (frequencyHz, c) => ({
      offsetHz: frequencyHz - middleHz,
      c,
    })).filter(({ c }) => solved[c * inputs + a] === 1);
    if (own.length < 2) continue;
    const points = own.map(({ offsetHz, c }) => {
      const at = 2 * (c * inputs + a);
      return { offsetHz, re: gains[at], im: gains[at + 1] };
    });
    const { delayS, phaseRad, size, ...others } = fitOne(points);
    delays.push({ input: a, delayS, phaseRad, size, ...others });
    frequenciesHz.forEach((frequencyHz, c) => {
      const angle = phaseRad - 2 * Math.PI * (frequencyHz - middleHz) * delayS;
      made.set([size * Math.cos(angle), size * Math.sin(angle)], 2 * (c * inputs + a));
      known[c * inputs + a] = 1;
    });
  }
  return { gains: gainsCA(made, channels, inputs), solved: known, delays };
}

interface Point {
  readonly offsetHz: number;
  readonly re: number;
  readonly im: number;
}

/** Sum of the points, with a delay taken out. */
function turned(points: readonly Point[], delayS: number): { readonly re: number; readonly im: number } {
  let [sumRe, sumIm] = [0, 0];
  for (const { offsetHz, re, im } of points) {
    const angle = 2 * Math.PI * offsetHz * delayS;
    sumRe += re * Math.cos(angle) - im * Math.sin(angle);
    sumIm += re * Math.sin(angle) + im * Math.cos(angle);
  }
  return { re: sumRe, im: sumIm };
}

function fitOne(points: readonly Point[]): Omit<FittedDelay, 'input'> {
  const bandHz = points[points.length - 1].offsetHz - points[0].offsetHz;
  const stepHz = points.reduce(
    (least, { offsetHz }, n) => (n === 0 ? least : Math.min(least, offsetHz - points[n - 1].offsetHz)),
    Infinity,
  );
  const gridS = 1 / (4 * bandHz);
  const steps = Math.ceil(1 / (2 * stepHz) / gridS);
  let [delayS, highest] = [0, -1];
  for (let n = -steps; n <= steps; n++) {
    const { re, im } = turned(points, n * gridS);
    if (Math.hypot(re, im) > highest) [delayS, highest] = [n * gridS, Math.hypot(re, im)];
  }
  let phaseRad = 0;
  for (let round = 0; round < 20; round++) {
    const { re, im } = turned(points, delayS);
    phaseRad = Math.atan2(im, re);
    // Remaining phases, weighted by amplitude: the slope of a straight line through them corrects the delay.
    let [weights, first, second, slope, mean] = [0, 0, 0, 0, 0];
    for (const point of points) {
      const angle = 2 * Math.PI * point.offsetHz * delayS - phaseRad;
      const left = Math.atan2(
        point.re * Math.sin(angle) + point.im * Math.cos(angle),
        point.re * Math.cos(angle) - point.im * Math.sin(angle),
      );
      const weight = point.re ** 2 + point.im ** 2;
      weights += weight;
      first += weight * point.offsetHz;
      second += weight * point.offsetHz ** 2;
      slope += weight * point.offsetHz * left;
      mean += weight * left;
    }
    const change = (slope * weights - mean * first) / (second * weights - first ** 2) / (2 * Math.PI);
    delayS -= change;
    if (Math.abs(change) * bandHz < 1e-13) break;
  }
  const { re, im } = turned(points, delayS);
  phaseRad = Math.atan2(im, re);
  const size = Math.hypot(re, im) / points.length;
  let left = 0;
  for (const point of points) {
    const angle = phaseRad - 2 * Math.PI * point.offsetHz * delayS;
    left += (point.re - size * Math.cos(angle)) ** 2 + (point.im - size * Math.sin(angle)) ** 2;
  }
  return {
    delayS,
    rangeS: 1 / (2 * stepHz),
    phaseRad,
    size,
    residual: Math.sqrt(left / points.length) / size,
  };
}
