/**
 * The formula itself, in float64, over all visibilities and all pixels: the reference for every backend.
 *
 *   image(l, m) = Σ weight · Re[ V e^(−2πi (u l + v m + w (n − 1))) ] / Σ weight   (/ n where the plan says so)
 *   V(u, v, w)  = Σ_pixels model(l, m) · e^(+2πi (u l + v m + w (n − 1)))          (/ n as well)
 */
import { planeML, visibilitiesRC, type PlaneML, type VisibilitiesRC } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { WideImager } from './imager.js';
import { depth, type WidePlan } from './plan.js';
import { checkRows, rowCount, wavelengthsPerMetre, type WideGeometry, type WideRows } from './rows.js';

/** A pixel's direction cosines, n − 1, and the factor for its sum; undefined below the horizon. */
interface PixelDirection {
  readonly l: number;
  readonly m: number;
  readonly nLessOne: number;
  readonly factor: number;
}

type Geometry = Pick<WidePlan, 'pixels' | 'pixelCosine' | 'scale'>;

export function pixelDirection(plan: Geometry, column: number, row: number): PixelDirection | undefined {
  const { pixels, pixelCosine, scale } = plan;
  const l = (column - pixels / 2) * pixelCosine;
  const m = (row - pixels / 2) * pixelCosine;
  const r2 = l * l + m * m;
  if (r2 > 1 || (r2 === 1 && scale === 'flux-over-n')) return undefined;
  const nLessOne = -depth(r2);
  return { l, m, nLessOne, factor: scale === 'flux' ? 1 : 1 / (1 + nLessOne) };
}

/** Σ weight · Re[V e^(−2πi …)] in one direction, not yet divided by the weights. */
function directSum(rows: WideRows, { l, m, nLessOne, factor }: PixelDirection): number {
  const { uvwM, visibilities, weights } = rows;
  const scales = wavelengthsPerMetre(rows.frequenciesHz);
  const channels = scales.length;
  let sum = 0;
  for (let row = 0; row < rowCount(rows); row++) {
    const metres = uvwM[3 * row] * l + uvwM[3 * row + 1] * m + uvwM[3 * row + 2] * nLessOne;
    for (let c = 0; c < channels; c++) {
      const at = row * channels + c;
      if (!(weights[at] > 0)) continue;
      const angle = 2 * Math.PI * metres * scales[c];
      const re = visibilities ? visibilities[2 * at] : 1;
      const im = visibilities ? visibilities[2 * at + 1] : 0;
      sum += weights[at] * (re * Math.cos(angle) + im * Math.sin(angle));
    }
  }
  return sum * factor;
}

export function prepareWideReference(plan: WidePlan): WideImager {
  const { pixels } = plan;
  const sums = new Float64Array(pixels * pixels);
  let weightSum = 0;
  let visibilities = 0;
  let model: PlaneML | undefined;
  return {
    plan,
    method: 'summed',
    // eslint-disable-next-line @typescript-eslint/require-await -- an async function turns refusals into rejections
    accumulate: async (rows) => {
      checkRows(rows);
      forEachPixel(plan, (at, direction) => {
        sums[at] += direction ? directSum(rows, direction) : Number.NaN;
      });
      for (const weight of rows.weights) {
        if (!(weight > 0)) continue;
        weightSum += weight;
        visibilities++;
      }
    },
    finish: () => {
      forEachPixel(plan, (at, direction) => {
        if (!direction) sums[at] = Number.NaN;
      });
      const image = planeML(
        sums.map((sum) => (weightSum > 0 ? sum / weightSum : sum)),
        pixels,
      );
      const used = { weightSum, visibilities };
      sums.fill(0);
      weightSum = 0;
      visibilities = 0;
      return Promise.resolve({ image, ...used });
    },
    loadModel: (image) => {
      model = planeML(image.slice(), pixels);
      return Promise.resolve();
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- as above
    predict: async (geometry) =>
      directPrediction(plan, model ?? refuse('image', 'no model was loaded'), geometry),
    close: () => Promise.resolve(),
  };
}

function forEachPixel(
  plan: Geometry,
  act: (at: number, direction: PixelDirection | undefined) => void,
): void {
  for (let row = 0; row < plan.pixels; row++) {
    for (let column = 0; column < plan.pixels; column++) {
      act(row * plan.pixels + column, pixelDirection(plan, column, row));
    }
  }
}

function directPrediction(plan: Geometry, model: PlaneML, geometry: WideGeometry): VisibilitiesRC {
  const { uvwM } = geometry;
  const scales = wavelengthsPerMetre(geometry.frequenciesHz);
  const channels = scales.length;
  const rows = rowCount(geometry);
  const values = new Float64Array(2 * rows * channels);
  forEachPixel(plan, (at, direction) => {
    if (!direction || model[at] === 0) return;
    const { l, m, nLessOne, factor } = direction;
    for (let row = 0; row < rows; row++) {
      const metres = uvwM[3 * row] * l + uvwM[3 * row + 1] * m + uvwM[3 * row + 2] * nLessOne;
      for (let c = 0; c < channels; c++) {
        const angle = 2 * Math.PI * metres * scales[c];
        const to = 2 * (row * channels + c);
        values[to] += model[at] * factor * Math.cos(angle);
        values[to + 1] += model[at] * factor * Math.sin(angle);
      }
    }
  });
  return visibilitiesRC(values, rows, channels);
}
