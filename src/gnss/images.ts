/** An image of each satellite from its despread correlations, with the gains applied. */
import { planeML, type PlaneML } from '../core/axes.js';
import type { Vector3 } from '../core/vector.js';
import { along, WAVENUMBER, type Cosines, type SolvedInputs } from './solve.js';
import type { Wave } from './waves.js';

export interface SatelliteImage {
  readonly prn: number;
  /** For a source of 1 in the power of the matrix's wave; NaN below the horizon. */
  readonly plane: PlaneML;
  readonly peak: Cosines;
}

/** Pixels along each side; column 0 west, row 0 south, the zenith at pixel n/2. */
export const PIXELS = 128;
const PIXEL = 2.1 / PIXELS;

export const imagePixel = PIXEL;

export function imageOf(
  wave: Wave,
  positions: readonly Vector3[],
  { gains, solved }: SolvedInputs,
): SatelliteImage {
  const used = [...solved.keys()].filter((a) => solved[a] === 1);
  const inputs = positions.length;
  const phases = used.map((a) => Math.atan2(gains[2 * a + 1], gains[2 * a]));
  const powers = used.map((a) => Math.sqrt(wave.matrix[2 * (a * inputs + a)]) || 1);
  const pairs = used.length * (used.length - 1);
  const values = new Float64Array(PIXELS * PIXELS);
  let [best, peak] = [-Infinity, { l: 0, m: 0 }];
  for (let row = 0; row < PIXELS; row++)
    for (let column = 0; column < PIXELS; column++) {
      const here = { l: (column - PIXELS / 2) * PIXEL, m: (row - PIXELS / 2) * PIXEL };
      const at = row * PIXELS + column;
      if (Math.hypot(here.l, here.m) >= 1) {
        values[at] = NaN;
        continue;
      }
      const turns = used.map((a, k) => phases[k] + WAVENUMBER * along(positions[a], here));
      const [c, s] = [turns.map(Math.cos), turns.map(Math.sin)];
      let sum = 0;
      for (let i = 1; i < used.length; i++)
        for (let j = 0; j < i; j++) {
          const k = 2 * (used[i] * inputs + used[j]);
          const [re, im] = [wave.matrix[k], wave.matrix[k + 1]];
          const [cc, ss] = [c[i] * c[j] + s[i] * s[j], s[i] * c[j] - c[i] * s[j]];
          sum += (re * cc + im * ss) / (powers[i] * powers[j]);
        }
      values[at] = (2 * sum) / pairs;
      if (values[at] > best) [best, peak] = [values[at], here];
    }
  return { prn: wave.prn, plane: planeML(values, PIXELS), peak };
}
