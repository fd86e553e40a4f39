/**
 * The exact equivalent of a direct image, from visibilities: the oracle of EPIC, which agrees with it to 1e-6. Dirty
 * image and beam. Each visibility is gridded with the cross-correlation of its two antennas' gridding kernels, (2K − 1)
 * cells square, because direct imaging's multiplication does just that: with natural weight and autocorrelations
 * included the two methods are the same sum in another order.
 *
 *   |Σ_a x_a Σ_k K_a[k] e^(−2πi k·l)|²  =  Σ_ij V_ij Σ_{k,k'} K_i[k] conj(K_j[k']) e^(−2πi (k − k')·l)
 *
 * Cells k − k' wrap around the grid: at the centres of pixels this is exact.
 */
import { baselineCount, baselineIndex, weightsCP } from '../../core/axes.js';
import type { GainsCA, ImageCPML, WeightsCP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { productCount } from '../../core/product-counts.js';
import { inputFactors, scaleImage, unitFactors } from './direct.js';
import { PairKernel } from './pair-kernels.js';
import type { ImagePlan } from '../plan.js';
import { planTransform } from './transform.js';

export interface VisibilityImageOptions {
  readonly gains?: GainsCA;
  /** solved : [c][a], 0 leaves the input out. */
  readonly solved?: Uint8Array;
  /**
   * `natural` weights every sample equally: the deepest image. `uniform` weights every cell of the uv plane equally:
   * the sharpest. Default natural.
   */
  readonly weight?: 'natural' | 'uniform';
  /** Autocorrelations raise the whole image by the receivers' noise. Default: left out. */
  readonly autos?: 'include' | 'leave-out';
  /** A series of images needs no beam, which takes as long as the image. Default: made. */
  readonly beam?: 'leave-out';
}

export interface VisibilityImage {
  /** Jy per beam; NaN where nothing is shown, and in channels without data. */
  readonly image: ImageCPML;
  /** The image of a source of 1 Jy in the middle, in each product; 1 at its peak. */
  readonly beam?: ImageCPML;
  /** The divisor of each plane: channels are averaged with it as weight. */
  readonly weights: WeightsCP;
}

/**
 * What is gridded: pairs of stations i ≥ j with these polarisations. XX and YY need no other order, since the
 * pair (j, i) adds the conjugate. XY of the pair (j, i) is the conjugate of YX of (i, j), gridded beside it.
 */
const combinations = [
  { pi: 0, pj: 0, product: 0 },
  { pi: 1, pj: 1, product: 1 },
  { pi: 0, pj: 1, product: 2 },
  { pi: 1, pj: 0, product: 2 },
] as const;
type Combination = (typeof combinations)[number];
const isParallel = ({ pi, pj }: Combination): boolean => pi === pj;

/**
 * Images integrations of one sky: the plan's axes are those of one moment, and visibilities are never phased, so
 * integrations over which the sky rotates by more than a fraction of a beam need plans of their own.
 */
export function imageVisibilities(
  plan: ImagePlan,
  integrations: readonly Integration[],
  options: VisibilityImageOptions = {},
  into?: VisibilityImage,
): VisibilityImage {
  const { pixels, channels, products, stations } = plan;
  checkIntegrations(plan, integrations);
  const factors = options.gains ? inputFactors(plan, options.gains, options.solved) : unitFactors(plan);
  const read = { plan, integrations, factors };
  const planeSize = pixels * pixels;
  const used = combinations.slice(0, products);
  const grids = used.map(() => new Float64Array(2 * planeSize));
  const beamGrids = used.map(() => new Float64Array(2 * planeSize));
  const sums = new Float64Array(channels * products * planeSize);
  const beamSums = new Float64Array(channels * products * planeSize);
  const weightSums = new Float64Array(channels * products);
  const transform = planTransform(pixels);
  const kernel = new PairKernel(plan);
  for (let c = 0; c < channels; c++) {
    for (const grid of [...grids, ...beamGrids]) grid.fill(0);
    const densities = options.weight === 'uniform' ? uvDensities(read, c, options) : undefined;
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        if (i === j && options.autos !== 'include') continue;
        kernel.load(c, i, j);
        const beam = centrePhase(plan, c, i, j);
        for (const [n, combination] of used.entries()) {
          const pair = readPair(read, c, i, j, combination);
          if (pair.weight === 0) continue;
          const cell = uvCell(plan, c, i, j, combination);
          const per = pair.times / (densities?.[combination.product][cell] ?? 1);
          kernel.add(grids[n], pair.re * per, pair.im * per);
          kernel.add(beamGrids[n], pair.weight * per * beam.re, pair.weight * per * beam.im);
          weightSums[c * products + combination.product] += pair.weight * per;
        }
      }
    }
    if (products === 4) weightSums[c * products + 3] = weightSums[c * products + 2];
    const first = c * products * planeSize;
    for (const grid of [...grids, ...beamGrids]) transform(grid);
    collect(grids, sums.subarray(first, first + products * planeSize));
    collect(beamGrids, beamSums.subarray(first, first + products * planeSize));
  }
  return {
    image: scaleImage(plan, sums, weightSums, into?.image),
    ...(options.beam !== 'leave-out' && { beam: scaleImage(plan, beamSums, weightSums, into?.beam) }),
    weights: weightsCP(weightSums, channels, products),
  };
}

export function checkIntegrations(plan: ImagePlan, integrations: readonly Integration[]): void {
  for (const integration of integrations) checkIntegration(plan, integration);
  if (integrations.length === 0) refuse('image', 'no integrations', 'give at least one');
}

function checkIntegration(plan: ImagePlan, integration: Integration): void {
  const { channels, stations, polarisations } = integration;
  if (channels !== plan.channels || stations !== plan.stations || polarisations !== plan.polarisations) {
    refuse(
      'image',
      `an integration of ${channels} channels, ${stations} stations and ${polarisations} polarisations for a plan ` +
        `of ${plan.channels}, ${plan.stations} and ${plan.polarisations}`,
      'plan the image for the data at hand',
    );
  }
}

/** V_ij of a source of 1 Jy at the image's centre: only heights change its phase. */
function centrePhase({ stations, centre }: ImagePlan, channel: number, i: number, j: number) {
  const [x, y] = [2 * (channel * stations + i), 2 * (channel * stations + j)];
  return {
    re: centre[x] * centre[y] + centre[x + 1] * centre[y + 1],
    im: centre[x + 1] * centre[y] - centre[x] * centre[y + 1],
  };
}

interface PairSource {
  readonly plan: ImagePlan;
  readonly integrations: readonly Integration[];
  readonly factors: Float64Array;
}

/**
 * The calibrated sum of x_i conj(x_j) over all integrations and its weight; `times` is how often it enters the image:
 * twice where the pair (j, i) adds the same real part, never where another combination includes it already.
 */
function readPair(
  { plan, integrations, factors }: PairSource,
  channel: number,
  i: number,
  j: number,
  combination: Combination,
): { re: number; im: number; weight: number; times: number } {
  const { stations, polarisations } = plan;
  const { pi, pj } = combination;
  const [inputI, inputJ] = [i * polarisations + pi, j * polarisations + pj];
  const factorI = 2 * (channel * stations * polarisations + inputI);
  const factorJ = 2 * (channel * stations * polarisations + inputJ);
  // factor_i · conj(factor_j)
  const factorRe = factors[factorI] * factors[factorJ] + factors[factorI + 1] * factors[factorJ + 1];
  const factorIm = factors[factorI + 1] * factors[factorJ] - factors[factorI] * factors[factorJ + 1];
  const isLeftOut = factorRe === 0 && factorIm === 0;
  const isHeldAlready = i === j && pi > pj;
  let re = 0;
  let im = 0;
  let weight = 0;
  for (const one of integrations) {
    const { visibilities, flaggedInputs } = one;
    if (isLeftOut || isHeldAlready || flaggedInputs[inputI] === 1 || flaggedInputs[inputJ] === 1) continue;
    const b = channel * baselineCount(stations) + baselineIndex(i, j);
    const at = 2 * ((b * polarisations + pi) * polarisations + pj);
    re += visibilities[at];
    im += visibilities[at + 1];
    weight += productCount(one, b, pi, pj);
  }
  return {
    re: re * factorRe - im * factorIm,
    im: re * factorIm + im * factorRe,
    weight,
    times: i !== j && isParallel(combination) ? 2 : 1,
  };
}

/** Sums : [product][m][l] from the transforms of the grids: Re XX, Re YY, then XY + conj(YX). */
function collect(fields: readonly Float64Array[], sums: Float64Array): void {
  const planeSize = fields[0].length / 2;
  for (let at = 0; at < planeSize; at++) {
    sums[at] = fields[0][2 * at];
    if (fields.length === 1) continue;
    sums[planeSize + at] = fields[1][2 * at];
    sums[2 * planeSize + at] = fields[2][2 * at] + fields[3][2 * at];
    sums[3 * planeSize + at] = fields[2][2 * at + 1] - fields[3][2 * at + 1];
  }
}

/**
 * The cell of the uv plane in which a pair counts for uniform weight: the difference of its nearest cells; that of (j,
 * i) for YX, which represents the other order of XY.
 */
function uvCell(
  { pixels, stations, corners }: ImagePlan,
  channel: number,
  i: number,
  j: number,
  { pi, pj }: Combination,
): number {
  const [from, to] = pi > pj ? [i, j] : [j, i];
  const at = 2 * channel * stations;
  const row = (corners[at + 2 * to] - corners[at + 2 * from] + pixels) % pixels;
  const column = (corners[at + 2 * to + 1] - corners[at + 2 * from + 1] + pixels) % pixels;
  return row * pixels + column;
}

/** densities : [product][cell], the weight in each cell of the uv plane, both orders counted. */
function uvDensities(read: PairSource, channel: number, { autos }: VisibilityImageOptions): Float64Array[] {
  const { plan } = read;
  const densities = Array.from({ length: 3 }, () => new Float64Array(plan.pixels * plan.pixels));
  for (let i = 0; i < plan.stations; i++) {
    for (let j = 0; j <= i; j++) {
      if (i === j && autos !== 'include') continue;
      for (const combination of combinations.slice(0, plan.products)) {
        const { weight } = readPair(read, channel, i, j, combination);
        const density = densities[combination.product];
        density[uvCell(plan, channel, i, j, combination)] += weight;
        if (i !== j && isParallel(combination)) density[uvCell(plan, channel, j, i, combination)] += weight;
      }
    }
  }
  return densities;
}
