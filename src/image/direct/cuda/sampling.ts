/**
 * The number of samples of an image. A field of `box` cells has no waves longer than the box, so its square has none of
 * `box` cells or more: 2·box samples along either side determine it, however many pixels are wanted. In a box of 32
 * cells 64² samples make 128² pixels, at a quarter of the cost. The pixels between are weighted sums of samples
 * (direct-refine.cu), exact up to rounding.
 */
import type { ImagePlan } from '../../plan.js';
import type { FoldedPrecision } from './halves/split-halves.js';

interface Sampling {
  /** Along either side; the number of pixels where every pixel is computed directly. */
  readonly samples: number;
  /** Warpgroups of a block, one for each 64 samples along m. */
  readonly groups: 1 | 2;
  /** Blocks of a channel, 64 samples along l each. */
  readonly tiles: number;
  /** Multiprocessors that they fill: one for every two warpgroups. */
  readonly multiprocessors: number;
}

/** The one box whose grids leave room for two blocks of one warpgroup on a multiprocessor. */
const SMALL_BOX = 32;

/**
 * Weights spread part of the rounding error in the bright middle of an image to the horizon, where the taper's removal
 * multiplies it: by 320 with 5 × 5 kernels, by 4800 with 7 × 7. Halves still reach 1e-3 with twice the steps that they
 * need otherwise: 257 steps gave 1.06e-3 on a card, 1000 gave 4.8e-4.
 */
const MOST_KERNEL = 5;
export const LEAST_SAMPLED_STEPS = 512;

export interface SamplingOptions {
  readonly box: number;
  readonly precision: FoldedPrecision;
  /** Of a block. */
  readonly steps: number;
}

export function planSampling(
  { pixels, kernelSize }: Pick<ImagePlan, 'pixels' | 'kernelSize'>,
  { box, precision, steps }: SamplingOptions,
): Sampling {
  const every = tiled(pixels, box, precision);
  // In single precision it would matter: sums of 1000 steps in floats would reach 1.4e-5.
  const suits = precision === 'half' && kernelSize <= MOST_KERNEL && steps >= LEAST_SAMPLED_STEPS;
  if (!suits || pixels <= 2 * box) return every;
  const fewer = tiled(2 * box, box, precision);
  return fewer.multiprocessors < every.multiprocessors ? fewer : every;
}

function tiled(samples: number, box: number, precision: FoldedPrecision): Sampling {
  const groups = precision === 'half' && box === SMALL_BOX && samples <= 64 ? 1 : 2;
  const tiles = Math.ceil(samples / 64) * Math.ceil(samples / (64 * groups));
  return { samples, groups, tiles, multiprocessors: (tiles * groups) / 2 };
}

/**
 * weights : [sample][pixel], what a sample adds to a pixel along one side: 1/n · Σ cos 2πd(pixel/pixels − sample/n) over
 * |d| ≤ n/2, the last at half weight, so that a pixel on a sample is that sample.
 */
export function sampleWeights(samples: number, pixels: number): Float32Array {
  return Float32Array.from({ length: samples * pixels }, (_, at) => {
    const angle = 2 * Math.PI * ((at % pixels) / pixels - Math.floor(at / pixels) / samples);
    let sum = 1 + Math.cos((samples / 2) * angle);
    for (let d = 1; d < samples / 2; d++) sum += 2 * Math.cos(d * angle);
    return sum / samples;
  });
}
