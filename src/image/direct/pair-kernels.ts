/**
 * The cross-correlation of two antennas' gridding kernels, which direct imaging's multiplication implies, for imaging
 * from visibilities.
 */
import type { ImagePlan } from '../plan.js';

/** The cross-correlation of two antennas' gridding kernels, and its place on the grid. */
export class PairKernel {
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
