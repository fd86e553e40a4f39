/**
 * The slow reference: brightness in one direction as a plain sum over visibilities, no grid, no taper, exact heights.
 */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { productCount } from '../../core/product-counts.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import { productInputs } from './direct.js';

export interface ExactOptions {
  readonly stationsM: readonly Vector3[];
  readonly frequencyHz: number;
  readonly channel: number;
  /** 0 XX, 1 YY, 2 Re XY, 3 Im XY. */
  readonly product: 0 | 1 | 2 | 3;
  readonly autos: 'include' | 'leave-out';
}

/** Σ_ij V_ij e^(−2πi f (r_i − r_j)·ŝ/c) / Σ_ij of its counts over ordered pairs; uncalibrated data, natural weight. */
export function exactBrightness(
  integration: Integration,
  directionEnu: Vector3,
  { stationsM, frequencyHz, channel, product, autos }: ExactOptions,
): number {
  const { stations, polarisations, visibilities, flaggedInputs } = integration;
  const [pi, pj] = productInputs[product];
  let sumRe = 0;
  let sumIm = 0;
  let weight = 0;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < stations; j++) {
      if (i === j && autos === 'leave-out') continue;
      if (flaggedInputs[i * polarisations + pi] + flaggedInputs[j * polarisations + pj] > 0) continue;
      const b = channel * baselineCount(stations) + (i >= j ? baselineIndex(i, j) : baselineIndex(j, i));
      const [row, column] = i >= j ? [pi, pj] : [pj, pi];
      const at = 2 * ((b * polarisations + row) * polarisations + column);
      const re = visibilities[at];
      const im = i >= j ? visibilities[at + 1] : -visibilities[at + 1];
      const pathM = dot(stationsM[i], directionEnu) - dot(stationsM[j], directionEnu);
      const angle = (-2 * Math.PI * frequencyHz * pathM) / SPEED_OF_LIGHT_M_PER_S;
      sumRe += re * Math.cos(angle) - im * Math.sin(angle);
      sumIm += re * Math.sin(angle) + im * Math.cos(angle);
      weight += productCount(integration, b, row, column);
    }
  }
  return (product === 3 ? sumIm : sumRe) / weight;
}
