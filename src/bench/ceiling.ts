/** The limit of TypeScript itself: multiply-adds in float64 without loads. */

const REPEATS = 1e6;

/** Eight sums, because each step depends on the previous one in the same sum. */
function multiplyAdd(repeats: number, factor: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let [e, f, g, h] = [0, 0, 0, 0];
  for (let repeat = 0; repeat < repeats; repeat++) {
    a += a * factor;
    b += b * factor;
    c += c * factor;
    d += d * factor;
    e += e * factor;
    f += f * factor;
    g += g * factor;
    h += h * factor;
  }
  return a + b + c + d + e + f + g + h;
}

export const scriptCeiling = (): { readonly title: string; run(): Promise<number> } => ({
  title: 'float64 multiply-adds in TypeScript',
  run: () => Promise.resolve(multiplyAdd(REPEATS, 1e-9) === 0 ? 16 * REPEATS : NaN),
});
