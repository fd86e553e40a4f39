/** Eigenvalues and eigenvectors of small symmetric matrices, by Jacobi rotations. */
export interface Eigen {
  readonly values: readonly number[];
  /** One per eigenvalue, of length 1. */
  readonly vectors: readonly Float64Array[];
}

/** Sweeps stop when the off-diagonal elements vanish; six or seven suffice for a matrix of eight rows. */
const MOST_SWEEPS = 60;

/** matrix : [row][column] of `size` rows; not changed. */
export function eigenSymmetric(matrix: Float64Array, size: number): Eigen {
  const a = matrix.slice();
  const v = new Float64Array(size * size);
  for (let k = 0; k < size; k++) v[k * size + k] = 1;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let off = 0;
    let total = 0;
    for (let p = 0; p < size; p++)
      for (let q = 0; q < size; q++) {
        total += a[p * size + q] ** 2;
        if (p !== q) off += a[p * size + q] ** 2;
      }
    if (off <= 1e-30 * total) break;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rotate(a, v, size, p, q);
  }
  return {
    values: Array.from({ length: size }, (_, k) => a[k * size + k]),
    vectors: Array.from({ length: size }, (_, k) =>
      Float64Array.from({ length: size }, (_unused, row) => v[row * size + k]),
    ),
  };
}

/** Rotates the axes p and q so that a_pq becomes 0. */
function rotate(a: Float64Array, v: Float64Array, size: number, p: number, q: number): void {
  const between = a[p * size + q];
  if (between === 0) return;
  const theta = (a[q * size + q] - a[p * size + p]) / (2 * between);
  const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  for (let k = 0; k < size; k++) {
    const [x, y] = [a[k * size + p], a[k * size + q]];
    a[k * size + p] = cosine * x - sine * y;
    a[k * size + q] = sine * x + cosine * y;
  }
  for (let k = 0; k < size; k++) {
    const [x, y] = [a[p * size + k], a[q * size + k]];
    a[p * size + k] = cosine * x - sine * y;
    a[q * size + k] = sine * x + cosine * y;
  }
  for (let k = 0; k < size; k++) {
    const [x, y] = [v[k * size + p], v[k * size + q]];
    v[k * size + p] = cosine * x - sine * y;
    v[k * size + q] = sine * x + cosine * y;
  }
}
