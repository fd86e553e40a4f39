/**
 * Integrations to images with the w term (image/wide): for every array, whatever its heights. Channels and products are
 * imaged separately, each gridded in u, v and w with its fringes stopped at the image's centre.
 */
import type { Backend } from '../backend/backend.js';
import { imageCPML, weightsCP, type ImageCPML, type PlaneML } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import {
  ownPowers,
  planWide,
  prepareWeights,
  prepareWideImager,
  stopFringes,
  type ImageGeometry,
  type WideImager,
  type WideProduct,
  type WideRows,
} from '../image/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { frameAtMiddle } from './geometry.js';
import { planSkyGeometry, type Calibrated, type ImageSettings, type SkyImage } from './sky-image.js';
import { channelOf } from './rows.js';

interface WTermSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly weight: 'natural' | 'uniform';
  readonly autos: 'include' | 'leave-out';
  readonly beam?: 'leave-out';
  readonly image: ImageSettings;
}

/** Error of a pixel relative to the peak. */
export const W_TERM_ACCURACY = 1e-4;

const productsOf = (polarisations: 1 | 2): readonly WideProduct[] =>
  polarisations === 1 ? ['XX'] : ['XX', 'YY', 'Re XY', 'Im XY'];

type WTermImage = SkyImage & { readonly beam?: ImageCPML };

interface WTermImager {
  image(integration: Integration, calibrated: Calibrated | undefined): Promise<WTermImage>;
  close(): Promise<void>;
}

/** Images of single integrations, each in the geometry of its own middle. */
export function prepareWTermImager(settings: WTermSettings): WTermImager {
  const { backend, telescope, frequenciesHz, weight, autos } = settings;
  if (autos === 'include' && weight !== 'natural')
    refuse('image', 'autocorrelations have natural weights', 'leave them out, or choose natural weights');
  let imager: WideImager | undefined;
  return {
    image: async (integration, calibrated) => {
      const frame = frameAtMiddle(telescope, integration);
      const plan = planSkyGeometry(telescope, frame, frequenciesHz, settings.image);
      imager ??= await prepareWideImager(widePlanOf(plan, backend), backend);
      const made = await planesOf(imager, plan, integration, calibrated, settings);
      const { start, durationS } = integration;
      return { ...made, plan, frame, start, durationS };
    },
    close: () => imager?.close() ?? nothingToClose(),
  };
}

/** Of one channel and product at a time. */
function widePlanOf(
  { pixels, pixelSize, stationsM, axes, frequenciesHz, stations }: ImageGeometry,
  backend: Backend,
) {
  const heights = stationsM.map((place) => dot(place, axes.n));
  const spreadM = Math.max(...heights) - Math.min(...heights);
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  return planWide({
    pixels,
    pixelCosine: pixelSize,
    accuracy: W_TERM_ACCURACY,
    costs: backend.kind,
    bounds: {
      leastWLambda: 0,
      // Axes rotate a little with J2000's while a plan is valid.
      mostWLambda: (1.001 * spreadM * highestHz) / SPEED_OF_LIGHT_M_PER_S + 1e-6,
      visibilities: Math.max(1, (stations * (stations - 1)) / 2),
    },
    ...(backend.kind === 'cuda' && { memoryBytes: backend.session.freeMemoryBytes() / 2 }),
  });
}

async function planesOf(
  imager: WideImager,
  plan: ImageGeometry,
  integration: Integration,
  calibrated: Calibrated | undefined,
  { weight, autos, beam }: WTermSettings,
) {
  const { pixels, channels, products, frequenciesHz, stationsM, axes } = plan;
  const size = pixels * pixels;
  const image = new Float64Array(channels * products * size).fill(Number.NaN);
  const beams = beam === 'leave-out' ? undefined : new Float64Array(image.length).fill(Number.NaN);
  const weights = new Float64Array(channels * products);
  const own = autos === 'include';
  for (const [p, product] of productsOf(plan.polarisations).entries()) {
    const options = {
      stationsM,
      axes,
      frequenciesHz,
      product,
      gains: calibrated?.gains,
      solved: calibrated?.solved,
    };
    const rows = stopFringes(integration, options);
    const powers = own ? ownPowers(integration, options) : undefined;
    for (let c = 0; c < channels; c++) {
      const plane = c * products + p;
      const one = weighed(imager, channelOf(rows, c), weight);
      await imager.accumulate(one);
      const made = await imager.finish();
      // Both orders of a pair.
      const pairs = 2 * made.weightSum;
      const add = { sum: powers?.sums[c] ?? 0, weight: powers?.weights[c] ?? 0 };
      if (!(pairs + add.weight > 0)) continue;
      weights[plane] = pairs + add.weight;
      fill(image.subarray(plane * size, (plane + 1) * size), plan, made.image, pairs, add);
      if (!beams) continue;
      const { uvwM, frequenciesHz: of, weights: each } = one;
      await imager.accumulate({ uvwM, frequenciesHz: of, weights: each });
      const shape = await imager.finish();
      const flat = { sum: add.weight, weight: add.weight };
      fill(beams.subarray(plane * size, (plane + 1) * size), plan, shape.image, pairs, flat);
    }
  }
  return {
    image: imageCPML(image, channels, products, pixels),
    beam: beams && imageCPML(beams, channels, products, pixels),
    weights: weightsCP(weights, channels, products),
  };
}

function weighed({ plan }: WideImager, rows: WideRows, kind: 'natural' | 'uniform'): WideRows {
  if (kind === 'natural') return rows;
  const weigher = prepareWeights(plan, { kind });
  weigher.count(rows);
  return { ...rows, weights: weigher.weigh(rows) };
}

/** Adds each station's own power, which is the same in every pixel; no value outside the sky. */
function fill(
  to: Float64Array,
  { shown }: ImageGeometry,
  from: PlaneML,
  pairs: number,
  own: { readonly sum: number; readonly weight: number },
): void {
  for (let at = 0; at < to.length; at++) {
    if (shown[at] !== 1) continue;
    const ofPairs = pairs > 0 ? pairs * from[at] : 0;
    to[at] = own.weight > 0 ? (ofPairs + own.sum) / (pairs + own.weight) : from[at];
  }
}
