/** Groups for UVFITS and Measurement Sets: V₁₂ of the pair (j, i) with fringes stopped, and its weight. */
import { baselineIndex } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import type { Instant } from '../../../core/instant.js';
import { productCount } from '../../../core/product-counts.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot, type Vector3 } from '../../../core/vector.js';
import { skyFrame } from '../../../sky/frame.js';
import type { VisibilityHeader } from '../../format.js';
import { writtenProducts } from '../pass-through.js';

/** (re, im, weight) for each channel and product of one baseline. */
export function fillGroup(
  target: Float32Array,
  integration: Integration,
  pair: {
    readonly header: VisibilityHeader;
    readonly i: number;
    readonly j: number;
    readonly delayS: number;
  },
): void {
  const { i, j, delayS, header } = pair;
  const { stations, polarisations, flaggedInputs, passThrough } = integration;
  const source = passThrough ? passThrough.means : integration.visibilities;
  const products = writtenProducts(header);
  const baselines = (stations * (stations + 1)) / 2;
  const b = baselineIndex(i, j);
  let at = 0;
  for (let c = 0; c < integration.channels; c++) {
    const phase = 2 * Math.PI * header.frequenciesHz[c] * delayS;
    const [cosine, sine] = [Math.cos(phase), Math.sin(phase)];
    for (const { p1, p2 } of products) {
      const [pi, pj, sign] = i === j ? [p1, p2, 1] : [p2, p1, -1];
      const from = ((c * baselines + b) * polarisations + pi) * polarisations + pj;
      const count = productCount(integration, c * baselines + b, pi, pj);
      const scale = passThrough ? 1 : count > 0 ? 1 / count : 0;
      const cos = cosine * scale;
      const sin = sine * scale;
      const re = source[2 * from];
      const im = sign * source[2 * from + 1];
      const flagged =
        flaggedInputs[i * polarisations + p2] === 1 || flaggedInputs[j * polarisations + p1] === 1;
      // V₁₂·(cos − i sin)
      target[at] = re * cos + im * sin;
      target[at + 1] = im * cos - re * sin;
      target[at + 2] = passThrough ? passThrough.weights[from] : flagged ? -count : count;
      at += 3;
    }
  }
}

/** uvw of each station, seconds : [s][u, v, w] */
export function stationUvwS({ telescope, phaseCentre }: VisibilityHeader, middle: Instant): Float64Array {
  const { l, m, n } = skyFrame(telescope.site, middle).tangentAxes(phaseCentre);
  const uvw = new Float64Array(3 * telescope.stations.length);
  telescope.stations.forEach(({ eastM, northM, upM }, s) => {
    const place: Vector3 = { x: eastM, y: northM, z: upM };
    [l, m, n].forEach((axis, k) => {
      uvw[3 * s + k] = dot(place, axis) / SPEED_OF_LIGHT_M_PER_S;
    });
  });
  return uvw;
}
