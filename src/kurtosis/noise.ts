/**
 * Limits of a window's spectral kurtosis by its mean power, in tables that native code and the reference share. Real
 * numbers need one entry. Noise that was rounded to few levels has a different kurtosis: its mean is not quite 1, its
 * scatter is smaller, and clipping removes its upper tail. The measured power gives the noise's rms in levels, from
 * which all of this follows.
 */
import type { SpectraType } from '../core/axes.js';
import { tail } from '../core/rounded-noise.js';
import { kurtosisMoments, pearsonLimits, type PowerShape } from './limits.js';

/** Numbers of an entry: offset, perSpread, low, high. */
export const ENTRY = 4;
/** Entries for each octave of power. */
const STEPS = 32;
const rails = { ci8: 127, ci4: 7 } satisfies Record<Exclude<SpectraType, 'cf32'>, number>;
/** In levels: below it most numbers are 0, and nothing is tested. */
const LEAST_RMS = 0.5;
/**
 * Relative to the rail: stronger noise saturates so often that it looks like a saturating carrier. Stronger windows
 * have this one's limits, and so are flagged: they are overloaded.
 */
const MOST_RMS = 0.5;

/** Of windows of so many spectra: z = (scale·S2/S1² − offset)·perSpread of noise is between low and high, 0 on average. */
interface NoiseTable {
  /**
   * Windows below `leastPower`, a mean power, are not tested. Entries are for every 32nd of an octave of the mean power
   * from `firstKey` on, and the last is for all stronger ones.
   */
  readonly head: readonly [spectra: number, leastPower: number, firstKey: number, scale: number];
  /** entries : [key − firstKey][offset, perSpread, low, high] */
  readonly entries: Float64Array;
}

const asNumber = new Float64Array(1);
const asWords = new Uint32Array(asNumber.buffer);
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0];
const KEY_SHIFT = 15;
/** A mean power's octave and 32nd of it: its first 17 bits. */
export function keyOf(power: number): number {
  asNumber[0] = power;
  return asWords[UPPER] >>> KEY_SHIFT;
}

/**
 * Limits for so many spectra, computed for `limitsOf` if that is given: they take time, and a few spectra less hardly
 * change them.
 */
export function noiseTable(
  type: SpectraType,
  shape: PowerShape,
  sigmas: number,
  spectra: number,
  limitsOf = spectra,
): NoiseTable {
  const factor = (spectra * shape + 1) / (spectra - 1);
  const { leastPower, firstKey } = type === 'cf32' ? REAL_NUMBERS : powersOf(type, shape);
  const entries = entriesOf(type, shape, sigmas, limitsOf).map((one, n) =>
    n % ENTRY === 0 ? factor + one : one,
  );
  return { head: [spectra, leastPower, firstKey, spectra * factor], entries };
}

const REAL_NUMBERS = { leastPower: Number.MIN_VALUE, firstKey: 0 };
/** Distributions whose mean of SK, and cumulants, are this close to those of real numbers use their limits. */
const [SAME_MEAN, SAME] = [1e-3, 1e-2];
const knownEntries = new Map<string, Float64Array>();

/** As in a table, but without the factor in their offsets. */
function entriesOf(type: SpectraType, shape: PowerShape, sigmas: number, spectra: number): Float64Array {
  const name = `${type} ${shape} ${sigmas} ${spectra}`;
  const found = knownEntries.get(name);
  if (found) return found;
  const moments = kurtosisMoments(spectra, shape);
  const plain = pearsonLimits(moments, sigmas);
  const real = realNoise(shape);
  const more = (noise: Noise): number => noise.mean + noise.meanPer / spectra;
  const variance = (noise: Noise): number => noise.second * (1 + noise.secondPer / spectra);
  const factor = (spectra * shape + 1) / (spectra - 1);
  const entries = (type === 'cf32' ? [real] : powersOf(type, shape).noises).flatMap((noise) => {
    const off = factor * (more(noise) - more(real));
    const [two, three, four] = [
      variance(noise) / variance(real),
      noise.third / real.third,
      noise.fourth / real.fourth,
    ];
    if (Math.abs(off) < SAME_MEAN && [two, three, four].every((one) => Math.abs(one - 1) < SAME))
      return [1, 1, plain.low, plain.high];
    const spread = Math.sqrt(two);
    const { low, high } = pearsonLimits(
      {
        variance: moments.variance * two,
        third: moments.third * three,
        fourth: (moments.fourth - 3 * moments.variance ** 2) * four + 3 * (moments.variance * two) ** 2,
      },
      sigmas,
    );
    return [1 + off, 1 / spread, low / spread, high / spread];
  });
  const made = Float64Array.from(entries);
  knownEntries.set(name, made);
  return made;
}

/**
 * M·S2/S1² − 1 of M powers, given S1: its mean is mean + meanPer/M, its cumulants scale with these, the second as
 * second·(1 + secondPer/M).
 */
interface Noise {
  readonly power: number;
  readonly mean: number;
  readonly meanPer: number;
  readonly second: number;
  readonly secondPer: number;
  readonly third: number;
  readonly fourth: number;
}

interface ByPower {
  readonly leastPower: number;
  readonly firstKey: number;
  readonly noises: readonly Noise[];
}
const knownPowers = new Map<string, ByPower>();

/** By keys of the power, from the weakest noise to the strongest. */
function powersOf(type: 'ci8' | 'ci4', shape: PowerShape): ByPower {
  const name = `${type} ${shape}`;
  const found = knownPowers.get(name);
  if (found) return found;
  const rail = rails[type];
  const octaves = Math.log2((MOST_RMS * rail) / LEAST_RMS);
  const points = 1 + Math.ceil(octaves * STEPS);
  const made = Array.from({ length: points }, (_, n) =>
    roundedNoise(LEAST_RMS * 2 ** ((octaves * n) / (points - 1)), rail, shape),
  );
  const leastPower = made[0].power;
  const firstKey = keyOf(leastPower);
  let at = 0;
  const noises = Array.from({ length: 1 + keyOf(made[points - 1].power) - firstKey }, (_, n) => {
    asWords[UPPER] = ((firstKey + n) << KEY_SHIFT) | (1 << (KEY_SHIFT - 1));
    asWords[1 - UPPER] = 0;
    const [middle] = asNumber;
    while (at < points - 2 && made[at + 1].power < middle) at++;
    // The nearer one: they are closer together than entries.
    return made[middle - made[at].power < made[at + 1].power - middle ? at : at + 1];
  });
  const all = { leastPower, firstKey, noises };
  knownPowers.set(name, all);
  return all;
}

/** E[x^2h] of real numbers: 1, 1·3, 1·3·5 … */
export const realNoise = (shape: PowerShape): Noise =>
  noiseOf(shape, [1, 1, 3, 15, 105, 945, 10_395, 135_135, 2_027_025]);

/** Of an rms in levels: E[q^2h] of q(x), each step k adds k^2h − (k − 1)^2h to whatever is beyond it (core/rounded-noise.ts). */
export function roundedNoise(rms: number, rail: number, shape: PowerShape): Noise {
  const even = [1, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let k = 1; k <= rail; k++) {
    const part = 2 * tail((k - 0.5) / rms);
    for (let half = 1; half < even.length; half++)
      even[half] += part * (k ** (2 * half) - (k - 1) ** (2 * half));
  }
  return noiseOf(shape, even);
}

/**
 * S2 given S1 = Mμ is M·E[p²] + Σr with r = p² − E[p²] − β(p − μ), which is not correlated with p. Cumulants of Σr given Σp are M
 * times those of r, and to the next order, by the saddle point of both sums, its mean is −κ(r,p,p)/2κ(p,p), its variance more by
 * −½ [κ(r,r,p,p)/κ(p,p) − κ(p,p,p)κ(r,r,p)/κ(p,p)² − (κ(r,p,p)/κ(p,p))²]. In units of μ. even : [h] E[q^2h] of a real number.
 */
function noiseOf(shape: PowerShape, even: readonly number[]): Noise {
  // E[pⁿ] of p = q², or of the sum of two.
  const raw = even.map((one, n) => {
    let [sum, choose] = [0, 1];
    for (let k = 0; k <= n; choose = (choose * (n - k)) / (k + 1), k++) sum += choose * even[k] * even[n - k];
    return shape === 0.5 ? one : sum;
  });
  const unit = raw.map((one, n) => one / raw[1] ** n);
  /** Products of polynomials of p, and their means. */
  const times = (x: readonly number[], y: readonly number[]): number[] => {
    const made = new Array<number>(x.length + y.length - 1).fill(0);
    for (const [n, one] of x.entries()) for (const [k, other] of y.entries()) made[n + k] += one * other;
    return made;
  };
  const mean = (x: readonly number[]): number => x.reduce((sum, one, n) => sum + one * unit[n], 0);
  const pp = unit[2] - 1;
  const slope = (unit[3] - unit[2]) / pp;
  const r = [slope - unit[2], -slope, 1];
  const p = [-1, 1];
  const [rr, p2] = [times(r, r), times(p, p)];
  const second = mean(rr);
  const rpp = mean(times(r, p2)) / pp;
  const rrpp = (mean(times(rr, p2)) - second * pp) / pp;
  const skewed = (mean(times(p, p2)) * mean(times(rr, p))) / pp ** 2;
  return {
    power: raw[1],
    mean: unit[2] - 1,
    meanPer: -rpp / 2,
    second,
    secondPer: -(rrpp - skewed - rpp ** 2) / 2 / second,
    third: mean(times(rr, r)),
    fourth: mean(times(rr, rr)) - 3 * second ** 2,
  };
}
