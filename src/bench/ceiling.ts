/** What TypeScript itself can do: multiply-adds in float64 with nothing to load. */
import type { Contestant } from './measure.js';

const REPEATS = 1e6;

export const scriptCeiling = (): Contestant & { readonly title: string } => ({
  title: 'float64 multiply-adds in TypeScript',
  run: () => {
    const sums = [0, 0, 0, 0];
    let [a, b, c, d] = [1, 2, 3, 4];
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      a += 1e-9 * repeat;
      b += 2e-9 * repeat;
      c += 3e-9 * repeat;
      d += 4e-9 * repeat;
    }
    [sums[0], sums[1], sums[2], sums[3]] = [a, b, c, d];
    return Promise.resolve(sums.every(Number.isFinite) ? REPEATS * 8 : NaN);
  },
});
