/** The residual of a source's fringes on every pair of dishes after correction for ERFA's position. */
import type { Integration } from '../core/blocks.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { Telescope } from '../telescope/telescope.js';

export interface Correlated {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly integration: Integration;
}

/**
 * For each baseline of two stations: what remains of a correlation of 1 after stopping ERFA's fringes, over the band.
 */
export function stopped(
  { telescope, frequenciesHz, integration }: Correlated,
  [east, north, up]: readonly number[],
): { readonly amplitude: number; readonly phaseDeg: number }[] {
  const { stations, channels, counts } = integration;
  const delays = telescope.stations.map(
    (place) => (place.eastM * east + place.northM * north + place.upM * up) / SPEED_OF_LIGHT_M_PER_S,
  );
  const baselines = (stations * (stations + 1)) / 2;
  // Means: at the ends of a time range, inputs with different delays lack different spectra.
  const mean = (c: number, i: number, j: number): [number, number] => {
    const at = c * baselines + (i * (i + 1)) / 2 + j;
    return [integration.visibilities[2 * at] / counts[at], integration.visibilities[2 * at + 1] / counts[at]];
  };
  const made: { amplitude: number; phaseDeg: number }[] = [];
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < i; j++) {
      let [re, im, power] = [0, 0, 0];
      for (let c = 2; c < channels - 2; c++) {
        const angle = -2 * Math.PI * ((frequenciesHz[c] * (delays[i] - delays[j])) % 1);
        const [x, y] = mean(c, i, j);
        re += x * Math.cos(angle) - y * Math.sin(angle);
        im += x * Math.sin(angle) + y * Math.cos(angle);
        power += Math.sqrt(mean(c, i, i)[0] * mean(c, j, j)[0]);
      }
      made.push({ amplitude: Math.hypot(re, im) / power, phaseDeg: (Math.atan2(im, re) * 180) / Math.PI });
    }
  }
  return made;
}
