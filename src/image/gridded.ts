/**
 * Dirty image and beam from visibilities. Each visibility is gridded with the cross-correlation of its two
 * antennas' kernels, (2K − 1) cells square, because that is what the direct road's multiplication does: with
 * natural weight and autocorrelations included the two roads are the same sum in another order.
 *
 *   |Σ_a x_a Σ_k K_a[k] e^(−2πi k·l)|²  =  Σ_ij V_ij Σ_{k,k'} K_i[k] conj(K_j[k']) e^(−2πi (k − k')·l)
 *
 * Cells k − k' wrap around the grid: at the centres of pixels, nothing is lost by that.
 */
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { GainsCA, ImageCPML } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { planFft } from '../core/fft.js';
import { inputFactors, productInputs, scaleImage, unitFactors } from './direct.js';
import type { ImagePlan } from './plan.js';

export interface VisibilityImageOptions {
  readonly gains?: GainsCA;
  /** solved : [c][a], 0 leaves the input out. */
  readonly solved?: Uint8Array;
  /**
   * `natural` weighs every sample alike: the deepest image. `uniform` weighs every cell of the uv plane alike:
   * the sharpest. Default natural.
   */
  readonly weight?: 'natural' | 'uniform';
  /** Autocorrelations lift the whole image by the receivers' noise. Default: left out. */
  readonly autos?: 'include' | 'leave-out';
}

export interface VisibilityImage {
  /** Jy per beam; NaN where nothing is shown, and in channels without data. */
  readonly image: ImageCPML;
  /** What a source of 1 Jy in the middle looks like in each product; 1 at its peak. */
  readonly beam: ImageCPML;
}

/** One ordered pair of inputs (i, j): the sum of x_i conj(x_j) calibrated, and its weight. */
interface Pair {
  readonly i: number;
  readonly j: number;
  readonly re: number;
  readonly im: number;
  readonly weight: number;
}

/**
 * Images integrations made under one sky: the plan's axes are those of one moment, and visibilities are never
 * phased, so integrations over which the sky turns by more than a fraction of a beam need plans of their own.
 */
export function imageVisibilities(
  plan: ImagePlan,
  integrations: readonly Integration[],
  options: VisibilityImageOptions = {},
): VisibilityImage {
  const { pixels, channels, products } = plan;
  for (const integration of integrations) checkIntegration(plan, integration);
  if (integrations.length === 0) refuse('image', 'no integrations', 'give at least one');
  const factors = options.gains ? inputFactors(plan, options.gains, options.solved) : unitFactors(plan);
  const planeSize = pixels * pixels;
  const sums = new Float64Array(channels * products * planeSize);
  const beamSums = new Float64Array(channels * products * planeSize);
  const weightSums = new Float64Array(channels * products);
  const grid = new Float64Array(2 * planeSize);
  const beamGrid = new Float64Array(2 * planeSize);
  const transform = planTransform(pixels);
  const kernels = new KernelPairs(plan);
  for (let c = 0; c < channels; c++) {
    // Re XY and Im XY come out of one complex transform
    for (let product = 0; product < Math.min(products, 3); product++) {
      grid.fill(0);
      beamGrid.fill(0);
      const pairs = [...orderedPairs(plan, integrations, factors, c, product, options)];
      const density = options.weight === 'uniform' ? uvDensity(plan, pairs, c) : undefined;
      let weightSum = 0;
      for (const pair of pairs) {
        const per = density ? 1 / density[uvCell(plan, pair, c)] : 1;
        kernels.load(c, pair.i, pair.j);
        kernels.add(grid, pair.re * per, pair.im * per);
        kernels.add(beamGrid, pair.weight * per, 0);
        weightSum += pair.weight * per;
      }
      transform(grid);
      transform(beamGrid);
      for (let part = 0; part < (product === 2 ? 2 : 1); part++) {
        const plane = c * products + product + part;
        weightSums[plane] = weightSum;
        for (let at = 0; at < planeSize; at++) {
          sums[plane * planeSize + at] = grid[2 * at + part];
          beamSums[plane * planeSize + at] = beamGrid[2 * at + part];
        }
      }
    }
  }
  return { image: scaleImage(plan, sums, weightSums), beam: scaleImage(plan, beamSums, weightSums) };
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

/** Both orders of every pair: the lower triangle as stored, the upper as its conjugate with p and q swapped. */
function* orderedPairs(
  plan: ImagePlan,
  integrations: readonly Integration[],
  factors: Float64Array,
  channel: number,
  product: number,
  { autos = 'leave-out' }: VisibilityImageOptions,
): Generator<Pair> {
  const { stations, polarisations } = plan;
  const [pi, pj] = productInputs[product];
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < stations; j++) {
      if (i === j && autos === 'leave-out') continue;
      const ai = i * polarisations + pi;
      const aj = j * polarisations + pj;
      const [giRe, giIm] = factorOf(plan, factors, channel, ai);
      const [gjRe, gjIm] = factorOf(plan, factors, channel, aj);
      const factorRe = giRe * gjRe + giIm * gjIm;
      const factorIm = giIm * gjRe - giRe * gjIm;
      if (factorRe === 0 && factorIm === 0) continue;
      let re = 0;
      let im = 0;
      let weight = 0;
      for (const { visibilities, counts, flaggedInputs } of integrations) {
        if (flaggedInputs[ai] === 1 || flaggedInputs[aj] === 1) continue;
        const b = channel * baselineCount(stations) + (i >= j ? baselineIndex(i, j) : baselineIndex(j, i));
        const [row, column] = i >= j ? [pi, pj] : [pj, pi];
        const at = 2 * ((b * polarisations + row) * polarisations + column);
        re += visibilities[at];
        im += i >= j ? visibilities[at + 1] : -visibilities[at + 1];
        weight += counts[b];
      }
      if (weight === 0) continue;
      yield { i, j, re: re * factorRe - im * factorIm, im: re * factorIm + im * factorRe, weight };
    }
  }
}

function factorOf(plan: ImagePlan, factors: Float64Array, channel: number, input: number): [number, number] {
  const at = 2 * (channel * plan.stations * plan.polarisations + input);
  return [factors[at], factors[at + 1]];
}

/** The cell of the uv plane in which a pair counts for uniform weight: the difference of its nearest cells. */
function uvCell({ pixels, stations, corners }: ImagePlan, { i, j }: Pair, channel: number): number {
  const at = 2 * channel * stations;
  const row = (corners[at + 2 * i] - corners[at + 2 * j] + pixels) % pixels;
  const column = (corners[at + 2 * i + 1] - corners[at + 2 * j + 1] + pixels) % pixels;
  return row * pixels + column;
}

function uvDensity(plan: ImagePlan, pairs: readonly Pair[], channel: number): Float64Array {
  const density = new Float64Array(plan.pixels * plan.pixels);
  for (const pair of pairs) density[uvCell(plan, pair, channel)] += pair.weight;
  return density;
}

/** The cross-correlation of two antennas' kernels, and where on the grid it lies. */
class KernelPairs {
  private readonly size: number;
  private readonly product: Float64Array;
  private row = 0;
  private column = 0;

  constructor(private readonly plan: ImagePlan) {
    this.size = 2 * plan.kernelSize - 1;
    this.product = new Float64Array(2 * this.size ** 2);
  }

  /** product[k − k'] = Σ K_i[k] conj(K_j[k']), shifted to start at 0. */
  load(channel: number, i: number, j: number): void {
    const { kernelSize: size, stations, corners, taps } = this.plan;
    const [atI, atJ] = [channel * stations + i, channel * stations + j];
    this.row = corners[2 * atI] - corners[2 * atJ] - (size - 1);
    this.column = corners[2 * atI + 1] - corners[2 * atJ + 1] - (size - 1);
    this.product.fill(0);
    for (let k = 0; k < size * size; k++) {
      const iRe = taps[2 * (atI * size * size + k)];
      const iIm = taps[2 * (atI * size * size + k) + 1];
      const rowK = Math.floor(k / size) + size - 1;
      const columnK = (k % size) + size - 1;
      for (let q = 0; q < size * size; q++) {
        const jRe = taps[2 * (atJ * size * size + q)];
        const jIm = taps[2 * (atJ * size * size + q) + 1];
        const at = 2 * ((rowK - Math.floor(q / size)) * this.size + columnK - (q % size));
        this.product[at] += iRe * jRe + iIm * jIm;
        this.product[at + 1] += iIm * jRe - iRe * jIm;
      }
    }
  }

  add(grid: Float64Array, re: number, im: number): void {
    const { pixels } = this.plan;
    for (let r = 0; r < this.size; r++) {
      const row = (this.row + r + 2 * pixels) % pixels;
      for (let c = 0; c < this.size; c++) {
        const column = (this.column + c + 2 * pixels) % pixels;
        const from = 2 * (r * this.size + c);
        const to = 2 * (row * pixels + column);
        grid[to] += re * this.product[from] - im * this.product[from + 1];
        grid[to + 1] += re * this.product[from + 1] + im * this.product[from];
      }
    }
  }
}

/** Σ cells e^(−2πi (row·m + column·l)/n) in place, both axes. */
function planTransform(pixels: number): (grid: Float64Array) => void {
  const fft = planFft(pixels);
  const column = new Float64Array(2 * pixels);
  return (grid) => {
    for (let row = 0; row < pixels; row++) fft.forward(grid, row * pixels);
    for (let l = 0; l < pixels; l++) {
      for (let row = 0; row < pixels; row++) {
        column[2 * row] = grid[2 * (row * pixels + l)];
        column[2 * row + 1] = grid[2 * (row * pixels + l) + 1];
      }
      fft.forward(column);
      for (let row = 0; row < pixels; row++) {
        grid[2 * (row * pixels + l)] = column[2 * row];
        grid[2 * (row * pixels + l) + 1] = column[2 * row + 1];
      }
    }
  };
}
