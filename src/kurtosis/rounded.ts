/**
 * The spectral kurtosis of noise that was rounded to few levels: its mean is not quite 1, and its spread not quite that
 * of real numbers. Both follow from the power at hand, since that tells the noise's rms in levels.
 */
import type { SpectraType } from '../core/axes.js';
import { evenMoment } from '../core/rounded-noise.js';
import { octavesOf } from './judging/octaves.js';
import type { PowerShape } from './limits.js';

/** By the mean power of a window: what SK is on average, and its spread over that of unrounded noise. */
export interface RoundedCurve {
  /** Weaker windows hold mostly zeros, and nothing is said of them. */
  readonly leastPower: number;
  /** Between them mean and spread are 1 to a thousandth. */
  readonly plainFrom: number;
  readonly plainTo: number;
  /** Entry n is of a power of 2^(firstOctave + n/STEPS). */
  readonly firstOctave: number;
  readonly means: Float64Array;
  readonly spreads: Float64Array;
}

const rails = { ci8: 127, ci4: 7 } satisfies Record<Exclude<SpectraType, 'cf32'>, number>;
export const STEPS_PER_OCTAVE = 16;
/** Of the rms, in levels: below it most numbers are 0. */
const LEAST_RMS = 0.5;
/**
 * Of the rail: noise any stronger hits it so often that it cannot be told from a carrier that does. Stronger windows are
 * judged by this one's limits, and so are taken: they are overloaded.
 */
const MOST_RMS = 0.5;
const PLAIN = 1e-3;

/** Nothing for floats: they are not rounded. */
export function roundedCurve(type: SpectraType, shape: PowerShape): RoundedCurve | undefined {
  if (type === 'cf32') return undefined;
  const rail = rails[type];
  const [leastLog, mostLog] = [Math.log2(LEAST_RMS), Math.log2(MOST_RMS * rail)];
  const points = 1 + Math.ceil((mostLog - leastLog) * 2 * STEPS_PER_OCTAVE);
  const known = Array.from({ length: points }, (_, n) =>
    ofRounded(2 ** (leastLog + ((mostLog - leastLog) * n) / (points - 1)), rail, shape),
  );
  const octave = known.map(({ power }) => Math.log2(power));
  const firstOctave = octave[0];
  const length = 1 + Math.floor((octave[points - 1] - firstOctave) * STEPS_PER_OCTAVE);
  let at = 0;
  const entries = Array.from({ length }, (_, n) => {
    const wanted = firstOctave + n / STEPS_PER_OCTAVE;
    while (at < points - 2 && octave[at + 1] < wanted) at++;
    const part = (wanted - octave[at]) / (octave[at + 1] - octave[at]);
    const between = (key: 'mean' | 'spread'): number =>
      known[at][key] + part * (known[at + 1][key] - known[at][key]);
    return { mean: between('mean'), spread: between('spread') };
  });
  const isPlain = ({ mean, spread }: { mean: number; spread: number }): boolean =>
    Math.abs(mean - 1) < PLAIN && Math.abs(spread - 1) < PLAIN;
  const firstPlain = entries.findIndex(isPlain);
  const endPlain = firstPlain < 0 ? -1 : entries.findIndex((one, n) => n > firstPlain && !isPlain(one));
  const powerAt = (n: number): number => 2 ** (firstOctave + n / STEPS_PER_OCTAVE);
  return {
    leastPower: powerAt(0),
    plainFrom: firstPlain < 0 ? Infinity : powerAt(firstPlain),
    plainTo: firstPlain < 0 ? 0 : powerAt((endPlain < 0 ? length : endPlain) - 1),
    firstOctave,
    means: Float64Array.from(entries, ({ mean }) => mean),
    spreads: Float64Array.from(entries, ({ spread }) => spread),
  };
}

/** Mean and spread at a power, between entries; those of the strongest noise beyond it. */
export function roundedAt(
  { firstOctave, means, spreads }: RoundedCurve,
  power: number,
): readonly [mean: number, spread: number] {
  const place = (octavesOf(power) - firstOctave) * STEPS_PER_OCTAVE;
  const last = means.length - 1;
  if (place >= last) return [means[last], spreads[last]];
  // The weakest may lie before it by a rounding.
  const n = Math.max(0, Math.floor(place));
  const part = place - n;
  return [means[n] + part * (means[n + 1] - means[n]), spreads[n] + part * (spreads[n + 1] - spreads[n])];
}

/** Of noise of an rms: its power, and what SK of many spectra becomes. */
export function ofRounded(
  rms: number,
  rail: number,
  shape: PowerShape,
): { readonly power: number; readonly mean: number; readonly spread: number } {
  const [a, b, c, d] = [1, 2, 3, 4].map((half) => evenMoment(rms, rail, half));
  // Of p = q² of one number, or of the two of a complex one.
  const powers =
    shape === 1
      ? ([2 * a, 2 * b + 2 * a * a, 2 * c + 6 * a * b, 2 * d + 8 * a * c + 6 * b * b] as const)
      : ([a, b, c, d] as const);
  const gaussian = shape === 1 ? ([1, 2, 6, 24] as const) : ([1, 3, 15, 105] as const);
  return {
    power: powers[0],
    mean: shape * (powers[1] / powers[0] ** 2 - 1),
    spread: Math.sqrt(ratioVariance(powers) / ratioVariance(gaussian)),
  };
}

/** M times the variance of (mean of p²)/(mean of p)² of M powers, M large. */
function ratioVariance([m1, m2, m3, m4]: readonly [number, number, number, number]): number {
  const [ofSquares, ofPowers, shared] = [m4 - m2 ** 2, m2 - m1 ** 2, m3 - m1 * m2];
  return ofSquares / m1 ** 4 + (4 * m2 ** 2 * ofPowers) / m1 ** 6 - (4 * m2 * shared) / m1 ** 5;
}
