/**
 * Integrations to images, by the geometry of their own moment: gridded in u, v and w, for every array; or, live, with
 * the pair kernels of direct images in the plane of the stations, where that is exact and the other method too slow.
 */
import type { Backend } from '../backend/backend.js';
import { imageCPML, weightsCP, type PlaneML } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { OnStep } from '../core/progress.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import {
  ownPowers,
  planWide,
  prepareVisibilityImager,
  prepareWeights,
  prepareWideImager,
  stopFringes,
  type ImageGeometry,
  type VisibilityImage,
  type VisibilityImager,
  type WideImager,
  type WideProduct,
  type WideRows,
} from '../image/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { blankDiscs } from './blank-discs.js';
import { divideResponse } from './brightness.js';
import { frameAtMiddle } from './geometry.js';
import { withoutLeakage } from './gains/apply-visibilities.js';
import {
  ImageLender,
  planSkyGeometry,
  refuseEmpty,
  type Calibrated,
  type ImageSettings,
  type SkyImage,
} from './sky-image.js';
import { prepareCardVisibilityImager, type CardVisibilityImager } from './card/images.js';
import { isOnCard, onHost, type CardIntegration } from './card/integrations.js';
import { PlannedImager, type ImagerStore, type PlannedFor } from './planned-imager.js';
import { channelOf } from './rows.js';
import { emptyAccount, type Stage } from './stage.js';

export interface ImageStageSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly weight: 'natural' | 'uniform';
  readonly autos: 'include' | 'leave-out';
  /** Leaves the beam out where it is not used. */
  readonly beam?: 'leave-out';
  /** For integrations without gains of their own. */
  readonly calibrated?: Calibrated;
  readonly image: ImageSettings;
  /** `w-term` by default; `flat` is for live images only (live/method.ts). */
  readonly method?: 'w-term' | 'flat';
  readonly plannedFor?: PlannedFor;
  readonly store?: ImagerStore;
  readonly onStep?: OnStep;
}

type Item = Integration | CardIntegration;

/** An integration alone, or with gains of its own; on the host or on a card. */
export type ImageInput = Item | { readonly integration: Item; readonly calibration: Calibrated };

/** Its arrays are lent: the next image may fill them again. */
export type VisibilitySkyImage = SkyImage & Pick<VisibilityImage, 'beam'>;

interface Imager {
  readonly image: (item: Item, gains: Calibrated | undefined) => Promise<VisibilitySkyImage>;
  close(): Promise<void>;
}

/** The stage from integrations to images. */
export function prepareImage(settings: ImageStageSettings): Stage<ImageInput, VisibilitySkyImage> {
  const { autos } = settings;
  const imager = settings.method === 'flat' ? flatImager(settings) : wTermImager(settings);
  const account = emptyAccount();
  return {
    push: async (item, emit) => {
      const [recorded, gains] =
        'integration' in item ? [item.integration, item.calibration] : [item, settings.calibrated];
      settings.onStep?.(0.05, 'the sky');
      const sky = await imager.image(recorded, gains);
      refuseEmpty(
        sky.image,
        `every ${autos === 'include' ? 'visibility' : 'cross-correlation'} is flagged, missing or without gains`,
        autos === 'include'
          ? 'image another integration'
          : 'keep autocorrelations, or image another integration',
      );
      blankDiscs(sky, settings.image.blanked);
      if (settings.image.response !== 'kept') divideResponse(sky, settings.telescope);
      account.images++;
      await emit(sky);
    },
    flush: () => Promise.resolve(),
    account: () => account,
    close: () => imager.close(),
  };
}

const withGains = (
  integration: Integration,
  gains: Calibrated | undefined,
): { readonly integration: Integration; readonly calibrated?: Calibrated } =>
  gains ? withoutLeakage(integration, gains) : { integration };

function flatImager(settings: ImageStageSettings): Imager {
  const { backend, telescope, frequenciesHz, weight, autos } = settings;
  const planned = new PlannedImager({
    telescope,
    frequenciesHz,
    settings: settings.image,
    plannedFor: settings.plannedFor,
    store: settings.store,
    prepare: (plan): Promise<VisibilityImager & Partial<CardVisibilityImager>> =>
      backend.kind === 'cuda'
        ? prepareCardVisibilityImager(plan, backend, { weight, autos })
        : prepareVisibilityImager(plan, backend),
  });
  const beam = settings.beam && { beam: settings.beam };
  const lender = new ImageLender('the imager in the plane of the stations');
  let into: VisibilityImage | undefined;
  const fromHost = (
    imager: VisibilityImager,
    recorded: Integration,
    gains: Calibrated | undefined,
  ): Promise<VisibilityImage> => {
    const { integration, calibrated } = withGains(recorded, gains);
    return imager.image([integration], { weight, autos, ...beam, ...calibrated }, into);
  };
  return {
    image: async (item, gains) => {
      const frame = frameAtMiddle(telescope, item);
      const { plan, imager } = await planned.at(frame);
      lender.refill();
      const onCard =
        isOnCard(item) && gains?.leakage === undefined && beam !== undefined
          ? await imager.imageOnCard?.(item, gains)
          : undefined;
      const made = onCard ?? (into = await fromHost(imager, await onHost(item), gains));
      const { start, durationS } = item;
      return lender.image({ ...made, plan, frame, start, durationS });
    },
    close: () => {
      lender.close();
      return planned.close();
    },
  };
}

/** Error of a pixel relative to the peak. */
export const W_TERM_ACCURACY = 1e-4;

const productsOf = (polarisations: 1 | 2): readonly WideProduct[] =>
  polarisations === 1 ? ['XX'] : ['XX', 'YY', 'Re XY', 'Im XY'];

/**
 * With the w term (image/wide), for every array, whatever its heights: each integration in the geometry of its own middle.
 * Channels and products are imaged separately, each gridded in u, v and w with its fringes stopped at the image's centre.
 */
function wTermImager(settings: ImageStageSettings): Imager {
  const { backend, telescope, frequenciesHz, weight, autos } = settings;
  if (autos === 'include' && weight !== 'natural')
    refuse('image', 'autocorrelations have natural weights', 'leave them out, or choose natural weights');
  let imager: WideImager | undefined;
  return {
    image: async (item, gains) => {
      const { integration, calibrated } = withGains(await onHost(item), gains);
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
  { weight, autos, beam }: ImageStageSettings,
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
