/** Weighted least squares by normal equations, with the covariance of the solution. */
import { refuse } from './errors.js';

export interface Normal {
  /** Adds weight·(row·x − value)². */
  add(columns: readonly number[], row: readonly number[], value: number, weight: number): void;
  /** x, and the inverse of the normal matrix, [k][k]. */
  solve(): { readonly x: Float64Array; readonly inverse: Float64Array };
}

/** `lacking` is the error if the matrix is singular: which data are insufficient, and how to continue. */
export function normalEquations(
  size: number,
  lacking: readonly [where: string, what: string, fix: string],
): Normal {
  const matrix = new Float64Array(size * size);
  const right = new Float64Array(size);
  return {
    add: (columns, row, value, weight) => {
      for (const [k, i] of columns.entries()) {
        right[i] += weight * row[k] * value;
        for (const [n, j] of columns.entries()) matrix[i * size + j] += weight * row[k] * row[n];
      }
    },
    solve: () => {
      // Cholesky: L in the lower triangle.
      const lower = matrix.slice();
      for (let i = 0; i < size; i++)
        for (let j = 0; j <= i; j++) {
          let sum = lower[i * size + j];
          for (let k = 0; k < j; k++) sum -= lower[i * size + k] * lower[j * size + k];
          if (i === j) {
            if (!(sum > 1e-12 * matrix[i * size + i])) refuse(...lacking);
            lower[i * size + i] = Math.sqrt(sum);
          } else lower[i * size + j] = sum / lower[j * size + j];
        }
      const solveFor = (values: Float64Array): Float64Array => {
        const x = values.slice();
        for (let i = 0; i < size; i++) {
          for (let k = 0; k < i; k++) x[i] -= lower[i * size + k] * x[k];
          x[i] /= lower[i * size + i];
        }
        for (let i = size - 1; i >= 0; i--) {
          for (let k = i + 1; k < size; k++) x[i] -= lower[k * size + i] * x[k];
          x[i] /= lower[i * size + i];
        }
        return x;
      };
      const inverse = new Float64Array(size * size);
      for (let k = 0; k < size; k++) {
        const unit = new Float64Array(size);
        unit[k] = 1;
        inverse.set(solveFor(unit), k * size);
      }
      return { x: solveFor(right), inverse };
    },
  };
}
