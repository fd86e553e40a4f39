/**
 * 2 × 2 complex matrices, the response of a station to the sky's X and Y (docs/conventions.md): eight numbers, rows
 * first, real before imaginary. Simple and slow: inner loops have their own code.
 */
export type Matrix2 = Float64Array | readonly number[];

/** a·b */
export function timesMatrix(a: Matrix2, b: Matrix2): Float64Array {
  const product = new Float64Array(8);
  for (let row = 0; row < 2; row++) {
    for (let column = 0; column < 2; column++) {
      const at = 4 * row + 2 * column;
      for (let k = 0; k < 2; k++) {
        const [re, im] = [a[4 * row + 2 * k], a[4 * row + 2 * k + 1]];
        const [otherRe, otherIm] = [b[4 * k + 2 * column], b[4 * k + 2 * column + 1]];
        product[at] += re * otherRe - im * otherIm;
        product[at + 1] += re * otherIm + im * otherRe;
      }
    }
  }
  return product;
}

/** aᴴ: transposed and conjugated. */
export const adjoint = (a: Matrix2): Float64Array =>
  Float64Array.of(a[0], -a[1], a[4], -a[5], a[2], -a[3], a[6], -a[7]);

/** Undefined if singular: |det| below 10⁻¹² of the product of the row lengths. */
export function inverseMatrix(a: Matrix2): Float64Array | undefined {
  const re = a[0] * a[6] - a[1] * a[7] - (a[2] * a[4] - a[3] * a[5]);
  const im = a[0] * a[7] + a[1] * a[6] - (a[2] * a[5] + a[3] * a[4]);
  const power = re * re + im * im;
  const rows = Math.hypot(a[0], a[1], a[2], a[3]) * Math.hypot(a[4], a[5], a[6], a[7]);
  if (!(Math.sqrt(power) > 1e-12 * rows)) return undefined;
  const over = (x: number, y: number): [number, number] => [
    (x * re + y * im) / power,
    (y * re - x * im) / power,
  ];
  return Float64Array.of(
    ...over(a[6], a[7]),
    ...over(-a[2], -a[3]),
    ...over(-a[4], -a[5]),
    ...over(a[0], a[1]),
  );
}
