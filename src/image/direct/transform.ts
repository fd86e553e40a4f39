import { planFft } from '../../core/fft.js';

/** Σ cells e^(−2πi (row·m + column·l)/n) in place, both axes. */
export function planTransform(pixels: number): (grid: Float64Array) => void {
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
