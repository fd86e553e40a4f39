/**
 * Autocorrelations, subtracted from a direct image. The multiplication of fields has them in every pixel, each
 * station's own power seen through its gridding kernel: Σ_s |x_s|² |Σ_k K_s[k] e^(−2πi k·l)|². Powers are summed beside
 * the image, and their contribution to it is one small transform per channel.
 */
import type { ImagePlan } from '../plan.js';
import { PairKernel } from './pair-kernels.js';
import { planTransform } from './transform.js';

export interface DirectImagerOptions {
  /**
   * Autocorrelations raise the whole image by the receivers' noise. Default: included, as the multiplication has them.
   */
  readonly autos?: 'include' | 'leave-out';
}

/** powers : [c][s][product], Σ over samples of x·conj(x) as recorded: XX, YY, Re XY, Im XY, or XX alone. */
export const powerCount = ({ channels, stations, products }: ImagePlan): number =>
  channels * stations * products;

/** Subtracts the contribution of each station's own power from sums : [c][product][m][l], in the transform's order. */
export function takeAutos(
  plan: ImagePlan,
  sums: Float64Array,
  powers: Float64Array,
  factors: Float64Array,
): void {
  const { channels, stations, products, polarisations, pixels } = plan;
  const planeSize = pixels * pixels;
  const kernel = new PairKernel(plan);
  const transform = planTransform(pixels);
  // A station's kernel with itself transforms to real numbers: XX and YY share a grid, and so do the parts of XY.
  const grids = Array.from({ length: Math.ceil(products / 2) }, () => new Float64Array(2 * planeSize));
  const own = new Float64Array(4);
  for (let c = 0; c < channels; c++) {
    for (const grid of grids) grid.fill(0);
    for (let s = 0; s < stations; s++) {
      const at = c * stations + s;
      calibrate(powers.subarray(at * products, (at + 1) * products), factors, at * polarisations, own);
      kernel.load(c, s, s);
      for (const [g, grid] of grids.entries()) kernel.add(grid, own[2 * g], own[2 * g + 1]);
    }
    for (const grid of grids) transform(grid);
    for (let product = 0; product < products; product++) {
      const grid = grids[Math.floor(product / 2)];
      const first = (c * products + product) * planeSize;
      for (let k = 0; k < planeSize; k++) sums[first + k] -= grid[2 * k + (product % 2)];
    }
  }
}

/** Powers times |factor|², and XY times factor_x · conj(factor_y); inputs left out contribute nothing. */
function calibrate(powers: Float64Array, factors: Float64Array, firstInput: number, to: Float64Array): void {
  const [xRe, xIm] = factors.subarray(2 * firstInput);
  const times = (power: number, by: number): number => (by === 0 ? 0 : power * by);
  to[0] = times(powers[0], xRe ** 2 + xIm ** 2);
  to[1] = 0;
  if (powers.length === 1) return;
  const [yRe, yIm] = factors.subarray(2 * firstInput + 2);
  to[1] = times(powers[1], yRe ** 2 + yIm ** 2);
  const re = xRe * yRe + xIm * yIm;
  const im = xIm * yRe - xRe * yIm;
  const isUsed = re !== 0 || im !== 0;
  to[2] = isUsed ? powers[2] * re - powers[3] * im : 0;
  to[3] = isUsed ? powers[2] * im + powers[3] * re : 0;
}
