/**
 * Imaging weights by the common definitions: visibilities are counted into cells of the uv plane, each 1/(n·pixel)
 * wavelengths wide, over all channels and all times. WSClean's are the same with -padding 1, which sets its cells, and
 * -weighting-rank-filter 0, which leaves isolated visibilities unchanged.
 *
 *   natural   w
 *   uniform   w / W_cell                             W_cell = Σ w of the cell's visibilities
 *   briggs    w / (1 + W_cell·f²)                    f² = (5·10^−R)² / (Σ_cells W_cell² / Σ w)
 *   taper     times e^(−(u² + v²)/2σ²)               σ = √(2 ln 2)/(π·FWHM), whose beam is a Gaussian of that width
 *
 * A pair counts once, in the half plane v ≥ 0. Visibilities outside the cells, on baselines too long for the pixels,
 * have no cell and no weight, unless weights are natural.
 */
import { weightsRC, type WeightsRC } from '../../core/axes.js';
import { realNumber } from '../../core/errors.js';
import type { WidePlan } from './plan.js';
import { checkRows, rowCount, wavelengthsPerMetre, type WideRows } from './rows.js';

export type WideWeighting = (
  | { readonly kind: 'natural' }
  | { readonly kind: 'uniform' }
  /** R: 2 is almost natural, −2 almost uniform. */
  | { readonly kind: 'briggs'; readonly robustness: number }
) & {
  /** Makes the cells smaller, as if the field were so many times wider; 1 by default (WSClean: 1.2). */
  readonly padding?: number;
  /** Full width at half maximum, in direction cosines, of the Gaussian that is the narrowest beam. */
  readonly taperFwhm?: number;
};

export interface WideWeigher {
  /** First every block, for its geometry and its weights only … */
  count(rows: Omit<WideRows, 'visibilities'>): void;
  /** … then each again: its imaging weights. */
  weigh(rows: Omit<WideRows, 'visibilities'>): WeightsRC;
  /** For the counted visibilities. */
  readonly beyond: BeyondCells;
}

/** Visibilities that have no cell, and so no weight. */
export interface BeyondCells {
  visibilities: number;
  /** All that were counted. */
  of: number;
  /** The longest u or v of all, in wavelengths. */
  longestLambda: number;
}

/** The uv plane: cells on a side, and cells per wavelength. */
interface Cells {
  readonly side: number;
  readonly perLambda: number;
}

/** Natural, uniform or Briggs weights over the grid of an image. */
export function prepareWeights(
  { pixels, pixelCosine }: Pick<WidePlan, 'pixels' | 'pixelCosine'>,
  weighting: WideWeighting,
): WideWeigher {
  const padding = realNumber('image', 'padding', weighting.padding ?? 1, 1, 16);
  const side = 2 * Math.ceil((padding * pixels) / 2);
  const cells = { side, perLambda: side * pixelCosine };
  if (weighting.kind === 'briggs') realNumber('image', 'robustness', weighting.robustness, -10, 10);
  if (weighting.taperFwhm !== undefined)
    realNumber('image', 'taper (direction cosine)', weighting.taperFwhm, 1e-12, 4);
  const density = weighting.kind === 'natural' ? undefined : new Float64Array((side * side) / 2);
  let total = 0;
  const beyond: BeyondCells = { visibilities: 0, of: 0, longestLambda: 0 };
  /** factors : [cell], made from the counts when first needed. */
  let factors: Float64Array | undefined;
  const sigma =
    weighting.taperFwhm === undefined ? undefined : Math.sqrt(2 * Math.LN2) / (Math.PI * weighting.taperFwhm);
  return {
    beyond,
    count: (rows) => {
      checkRows(rows);
      factors = undefined;
      if (!density) return;
      forEachUsed(rows, (at, u, v) => {
        const cell = cellOf(cells, u, v);
        beyond.of++;
        beyond.longestLambda = Math.max(beyond.longestLambda, Math.abs(u), Math.abs(v));
        if (cell === undefined) {
          beyond.visibilities++;
          return;
        }
        density[cell] += rows.weights[at];
        total += rows.weights[at];
      });
    },
    weigh: (rows) => {
      checkRows(rows);
      if (!density && sigma === undefined) return rows.weights;
      if (density) factors ??= factorsOf(density, total, weighting);
      const weights = new Float32Array(rows.weights.length);
      forEachUsed(rows, (at, u, v) => {
        let weight = rows.weights[at];
        if (factors) {
          const cell = cellOf(cells, u, v);
          weight *= cell === undefined ? 0 : factors[cell];
        }
        if (sigma !== undefined) weight *= Math.exp(-(u * u + v * v) / (2 * sigma * sigma));
        weights[at] = weight;
      });
      return weightsRC(weights, rowCount(rows), rows.frequenciesHz.length);
    },
  };
}

/** cells : [v ≥ 0][u], u from the most negative. */
function cellOf({ side, perLambda }: Cells, u: number, v: number): number | undefined {
  const sign = v < 0 ? -1 : 1;
  const column = Math.floor(sign * u * perLambda + side / 2);
  const row = Math.floor(sign * v * perLambda);
  if (column < 0 || column >= side || row >= side / 2) return undefined;
  return row * side + column;
}

function forEachUsed(
  rows: Omit<WideRows, 'visibilities'>,
  act: (at: number, u: number, v: number) => void,
): void {
  const { uvwM, weights } = rows;
  const scales = wavelengthsPerMetre(rows.frequenciesHz);
  const channels = scales.length;
  for (let row = 0; row < rowCount(rows); row++) {
    for (let c = 0; c < channels; c++) {
      const at = row * channels + c;
      if (weights[at] > 0) act(at, uvwM[3 * row] * scales[c], uvwM[3 * row + 1] * scales[c]);
    }
  }
}

function factorsOf(density: Float64Array, total: number, weighting: WideWeighting): Float64Array {
  if (weighting.kind !== 'briggs') return density.map((sum) => (sum > 0 ? 1 / sum : 0));
  const squares = density.reduce((sum, value) => sum + value * value, 0);
  const f2 = (5 * 10 ** -weighting.robustness) ** 2 / (squares / total);
  return density.map((sum) => 1 / (1 + sum * f2));
}
