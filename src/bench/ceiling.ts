/** The limits of a host backend: its multiply-adds, and those of TypeScript itself. */
import type { HostBackend } from '../backend/backend.js';
import { cpuCeilings } from '../backend/cpu/ceilings.js';
import type { PreparedCase } from './bench.js';

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

/** In float64, without loads. */
const scriptCeiling = {
  title: 'float64 multiply-adds in TypeScript',
  run: () => Promise.resolve(multiplyAdd(REPEATS, 1e-9) === 0 ? 16 * REPEATS : NaN),
};

/** Multiply-adds alone, in units that take so many `operations` each. */
export function hostCeiling(
  backend: HostBackend,
  operations: number,
  numbers: 'floats' | 'integers' = 'floats',
): PreparedCase['ceiling'] {
  const ceiling = backend.kind === 'cpu' ? cpuCeilings(backend)[numbers]() : scriptCeiling;
  return { title: ceiling.title, run: async () => (await ceiling.run()) / operations };
}
