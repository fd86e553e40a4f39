/**
 * Direct imaging (EPIC): each time step's voltages are spread on the grid, transformed to the field of the sky, and
 * multiplied, without visibilities. This file has what every backend shares: the interface, the calibration of its
 * inputs and the scale of its image.
 */
import { baselineCount, baselineIndex, gainsCA, imageCPML } from '../../core/axes.js';
import type { CountsCB, GainsCA, ImageCPML, WeightsCP } from '../../core/axes.js';
import type { SpectraBlock } from '../../core/blocks.js';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { coversStations } from '../../core/gaps.js';
import type { ImagePlan } from '../plan.js';

export interface DirectImage {
  /** NaN where nothing is shown, and in channels with no antenna left. */
  readonly image: ImageCPML;
  /** Time steps accumulated, complete or in part. */
  readonly samples: number;
  /** Samples that both stations of each pair had: the weights of the image. */
  readonly counts: CountsCB;
  /** The divisor of each plane: channels are averaged with it as weight. */
  readonly weights: WeightsCP;
}

export interface DirectImager extends Closable {
  readonly plan: ImagePlan;
  /**
   * Divides every input by its gain from now on; inputs with solved[c][a] = 0 are left out. Refused between
   * `accumulate` and `finish`: an image has one calibration.
   */
  setGains(gains: GainsCA, solved?: Uint8Array): void;
  accumulate(block: SpectraBlock): Promise<void>;
  /** The image of everything accumulated; then starts again. A new one unless one is given to be filled. */
  finish(into?: DirectImage): Promise<DirectImage>;
}

/** factors : [c][a] complex, the factor for each voltage: 1/gain, 0 for inputs left out. */
export function inputFactors(
  plan: ImagePlan,
  gains: GainsCA,
  solved?: Uint8Array,
  into?: Float64Array,
): Float64Array {
  const inputs = plan.stations * plan.polarisations;
  gainsCA(gains, plan.channels, inputs);
  if (solved && solved.length !== plan.channels * inputs) {
    refuse('image', `${solved.length} marks for ${plan.channels * inputs} gains`);
  }
  const factors = into?.fill(0) ?? new Float64Array(2 * plan.channels * inputs);
  for (let at = 0; at < plan.channels * inputs; at++) {
    if (solved?.[at] === 0) continue;
    const power = gains[2 * at] ** 2 + gains[2 * at + 1] ** 2;
    if (!(power > 0 && power < Infinity)) {
      const [channel, input] = [Math.floor(at / inputs), at % inputs];
      refuse(
        'image',
        `the gain of input ${input} in channel ${channel} is ${gains[2 * at]} + ${gains[2 * at + 1]}i`,
        'mark it as not solved to leave it out',
      );
    }
    factors[2 * at] = gains[2 * at] / power;
    factors[2 * at + 1] = -gains[2 * at + 1] / power;
  }
  return factors;
}

/** Factors without calibration: 1 for every input. */
export const unitFactors = (plan: ImagePlan): Float64Array =>
  Float64Array.from({ length: 2 * plan.channels * plan.stations * plan.polarisations }, (_, n) =>
    n % 2 === 0 ? 1 : 0,
  );

/** The two polarisations that each image product multiplies: X X, Y Y, and X Y for both parts of XY. */
export const productInputs = [
  [0, 0],
  [1, 1],
  [0, 1],
  [0, 1],
] as const;

/**
 * Σ over ordered pairs of stations of their common samples, where both inputs are used: a single source of flux I adds
 * I times this to the sum of |field|², so division by it gives Jy per beam. A station pairs with itself where
 * autocorrelations are included.
 */
export function pairSum(
  plan: ImagePlan,
  counts: CountsCB,
  factors: Float64Array,
  channel: number,
  product: number,
  autos: 'include' | 'leave-out' = 'include',
): number {
  const { stations, polarisations } = plan;
  const [pi, pj] = productInputs[product];
  const takesPart = (s: number, p: number): boolean => {
    const a = (channel * stations + s) * polarisations + p;
    return factors[2 * a] !== 0 || factors[2 * a + 1] !== 0;
  };
  let sum = 0;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      if (i === j && autos === 'leave-out') continue;
      const count = counts[channel * baselineCount(stations) + baselineIndex(i, j)];
      if (takesPart(i, pi) && takesPart(j, pj)) sum += count;
      if (i !== j && takesPart(j, pi) && takesPart(i, pj)) sum += count;
    }
  }
  return sum;
}

const corrections = new WeakMap<object, Float64Array>();
/** The plan's correction, NaN where nothing is shown; made once for each plan. */
export function shownCorrection(plan: Pick<ImagePlan, 'correction' | 'shown'>): Float64Array {
  let made = corrections.get(plan);
  if (!made) {
    made = plan.correction.map((value, at) => (plan.shown[at] === 1 ? value : NaN));
    corrections.set(plan, made);
  }
  return made;
}

/**
 * Converts sums : [c][product][m][l], in the transform's order (bin 0 first), to the image: centred, scaled, the taper
 * taken out, NaN where nothing is shown. A new image unless one is given to be filled.
 */
export function scaleImage(
  plan: ImagePlan,
  sums: Float64Array,
  pairSums: Float64Array,
  into?: ImageCPML,
): ImageCPML {
  const { pixels, channels, products } = plan;
  const image = imageCPML(into ?? new Float64Array(sums.length), channels, products, pixels);
  const half = pixels / 2;
  const correction = shownCorrection(plan);
  for (let plane = 0; plane < channels * products; plane++) {
    const first = plane * pixels * pixels;
    if (!(pairSums[plane] > 0)) {
      image.fill(NaN, first, first + pixels * pixels);
      continue;
    }
    const scale = 1 / pairSums[plane];
    for (let m = 0; m < pixels; m++) {
      // Pixel k is direction k − n/2, which the transform keeps in bin (k − n/2) mod n: halves are swapped.
      const from = first + ((m + half) % pixels) * pixels;
      const row = m * pixels;
      for (let l = 0; l < half; l++)
        image[first + row + l] = sums[from + half + l] * scale * correction[row + l];
      for (let l = half; l < pixels; l++)
        image[first + row + l] = sums[from - half + l] * scale * correction[row + l];
    }
  }
  return image;
}

/** Refuses a block whose channels and inputs are not this plan's. */
export function checkBlock(plan: ImagePlan, block: SpectraBlock): void {
  const inputs = plan.stations * plan.polarisations;
  if (block.shape.channels !== plan.channels || block.shape.inputs !== inputs) {
    refuse(
      'direct image',
      `a block of ${block.shape.channels} channels and ${block.shape.inputs} inputs for a plan of ` +
        `${plan.channels} and ${inputs}`,
      'plan the image for the channels and stations of the recording',
    );
  }
  if (!block.gaps.every((gap) => coversStations(gap, plan.polarisations))) {
    refuse(
      'direct image',
      'a block lacks one polarisation of a station, and an image has one count of a pair',
      "channelise with gapsCover: 'stations', which takes the other polarisation too",
    );
  }
}
