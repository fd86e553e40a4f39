/** The wave of a satellite over the inputs: the strongest eigenvector of its despread correlations. */
import type { Periods } from './correlate.js';

export interface Wave {
  readonly prn: number;
  readonly dopplerHz: number;
  readonly codeStartSamples: number;
  /** [input] complex; the squared amplitude is the power of an input's wave, in squared samples. */
  readonly values: Float64Array;
  /** Rms of the residual, for the real and imaginary part of `values` each. */
  readonly noise: number;
  /** The largest eigenvalue over the mean of the others. */
  readonly eigenvalueRatio: number;
  /** Matrix of the wave: [input][input] complex, mean of p·conj(p). */
  readonly matrix: Float64Array;
}

const MOST_STEPS = 500;

export function waveOf({ replica, values, counts }: Periods, inputs: number): Wave {
  const most = Math.max(...counts);
  const matrix = new Float64Array(2 * inputs * inputs);
  let periods = 0;
  counts.forEach((count, period) => {
    // Incomplete codes at the ends of the recording are left out.
    if (count < 0.99 * most) return;
    periods++;
    for (let i = 0; i < inputs; i++)
      for (let j = 0; j < inputs; j++) {
        const [a, b] = [2 * (period * inputs + i), 2 * (period * inputs + j)];
        const at = 2 * (i * inputs + j);
        matrix[at] += values[a] * values[b] + values[a + 1] * values[b + 1];
        matrix[at + 1] += values[a + 1] * values[b] - values[a] * values[b + 1];
      }
  });
  for (let k = 0; k < matrix.length; k++) matrix[k] /= periods * most * most;
  const { value, vector } = strongest(matrix, inputs);
  let trace = 0;
  for (let i = 0; i < inputs; i++) trace += matrix[2 * (i * inputs + i)];
  const others = Math.max(0, (trace - value) / Math.max(1, inputs - 1));
  const size = Math.sqrt(Math.max(0, value));
  return {
    ...replica,
    values: vector.map((one) => one * size),
    noise: Math.sqrt(others / (2 * periods)),
    eigenvalueRatio: value / others,
    matrix,
  };
}

/** By power iteration: the first eigenvalue of a satellite is far above the others. */
function strongest(matrix: Float64Array, inputs: number): { value: number; vector: Float64Array } {
  let vector = new Float64Array(2 * inputs);
  // Starts with the column of the strongest input.
  let first = 0;
  for (let i = 0; i < inputs; i++)
    if (matrix[2 * (i * inputs + i)] > matrix[2 * (first * inputs + first)]) first = i;
  for (let i = 0; i < inputs; i++)
    vector.set(matrix.subarray(2 * (i * inputs + first), 2 * (i * inputs + first) + 2), 2 * i);
  let value = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    const next = new Float64Array(2 * inputs);
    for (let i = 0; i < inputs; i++)
      for (let j = 0; j < inputs; j++) {
        const at = 2 * (i * inputs + j);
        next[2 * i] += matrix[at] * vector[2 * j] - matrix[at + 1] * vector[2 * j + 1];
        next[2 * i + 1] += matrix[at] * vector[2 * j + 1] + matrix[at + 1] * vector[2 * j];
      }
    const size = Math.sqrt(next.reduce((sum, one) => sum + one * one, 0));
    if (size === 0) break;
    let change = 0;
    for (let k = 0; k < next.length; k++) {
      next[k] /= size;
      change = Math.max(change, Math.abs(next[k] - vector[k]));
    }
    vector = next;
    value = size;
    if (change < 1e-12) break;
  }
  return { value, vector };
}
