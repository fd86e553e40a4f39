/** What an image of the sky is in this room: pixels, the plan that made them, and the sky they stand for. */
import type { GainsCA, ImageCPML, WeightsCP } from '../core/axes.js';
import { CorellaError, refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import {
  fittingPixels,
  planImage,
  type ImageField,
  type ImageOptions,
  type ImagePlan,
  type KernelSize,
} from '../image/index.js';
import type { SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { stationPositions } from './geometry.js';

export interface ImageSettings {
  /** Along each side. Default: 128, or the next good size that holds the array. */
  readonly pixels?: number;
  readonly field: ImageField;
  readonly kernelSize: KernelSize;
}

export interface Calibrated {
  readonly gains: GainsCA;
  /** Of the same shape: what each input hears of the other polarisation; none unless given. */
  readonly leakage?: GainsCA;
  readonly solved: Uint8Array;
  /** crossHands : [c], 1 where X and Y have one phase reference; left out where nobody knows of any. */
  readonly crossHands?: Uint8Array;
}

/** With what is known of the cross hands. */
export type CalibratedFully = Required<Omit<Calibrated, 'leakage'>> & Pick<Calibrated, 'leakage'>;

/** Gains that change in time, as they are at a moment. */
export type CalibratedAt = (moment: Instant) => Calibrated;

export const calibratedAt = (calibrated: Calibrated | CalibratedAt, moment: Instant): Calibrated =>
  typeof calibrated === 'function' ? calibrated(moment) : calibrated;

/** A picture of one moment: everything needed to write or draw it. */
export interface SkyImage {
  readonly image: ImageCPML;
  /** What each plane was made of: channels are averaged by it; alike where nobody says. */
  readonly weights?: WeightsCP;
  readonly plan: ImagePlan;
  readonly frame: SkyFrame;
  readonly start: Instant;
  readonly durationS: number;
}

export function planSky(
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): ImagePlan {
  const options = optionsOf(telescope, frame, frequenciesHz, settings);
  return planImage({ ...options, pixels: settings.pixels ?? fittingPixels(options) });
}

/** Along each side, as `planSky` has them. */
export const pixelsOf = (
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): number => settings.pixels ?? fittingPixels(optionsOf(telescope, frame, frequenciesHz, settings));

const optionsOf = (
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): Omit<ImageOptions, 'pixels'> => ({
  field: settings.field,
  stationsM: stationPositions(telescope),
  axes: frame.tangentAxes(frame.zenith),
  frequenciesHz,
  polarisations: telescope.polarisations,
  kernel: { kind: 'fitted', size: settings.kernelSize },
});

const EMPTY = 'nothing is left of the data';

/** A picture of nothing is refused before anything is written. */
export function refuseEmpty(image: ImageCPML, why: string, fix: string): void {
  if (image.every((value) => Number.isNaN(value))) refuse('image', `${EMPTY}: ${why}`, fix);
}

/** Where the night goes on all the same. */
export const isEmptyImage = (error: unknown): error is CorellaError =>
  error instanceof CorellaError && error.what.startsWith(EMPTY);
