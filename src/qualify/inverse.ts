/** The one piece of linear algebra that theory needs. */

/** Of the inverse of a square matrix, by Gauss and Jordan with the largest pivot. */
export function traceOfInverse(matrix: readonly Float64Array[]): number {
  const size = matrix.length;
  const rows = matrix.map((row, k) => {
    const wide = new Float64Array(2 * size);
    wide.set(row);
    wide[size + k] = 1;
    return wide;
  });
  for (let k = 0; k < size; k++) {
    let best = k;
    for (let r = k + 1; r < size; r++) if (Math.abs(rows[r][k]) > Math.abs(rows[best][k])) best = r;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    const pivot = rows[k][k];
    rows[k] = rows[k].map((value) => value / pivot);
    for (let r = 0; r < size; r++) {
      if (r === k) continue;
      const factor = rows[r][k];
      for (let n = 0; n < 2 * size; n++) rows[r][n] -= factor * rows[k][n];
    }
  }
  return rows.reduce((sum, row, k) => sum + row[size + k], 0);
}
