/** An image of the sky in this module: pixels, the plan that made them, and the sky they show. */
import type { GainsCA, ImageCPML, WeightsCP } from '../core/axes.js';
import { CorellaError, refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import { Lender } from '../core/lent.js';
import type { Vector3 } from '../core/vector.js';
import {
  chooseCentre,
  checkFits,
  fittingPixels,
  isZenith,
  neededCells,
  planGeometry,
  planImage,
  type ImageField,
  type ImageGeometry,
  type ImageOptions,
  type ImagePlan,
  type KernelSize,
  type StationPatterns,
} from '../image/index.js';
import { towardsOf, ZENITH, type ElementBeam } from '../sky/beams/element-beam.js';
import { ownWeights } from '../sky/beams/powers.js';
import type { BlankedDiscs } from '../sky/discs.js';
import type { SkyFrame, SkyPosition, TangentAxes } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { stationPositions } from './geometry.js';
import type { Stage } from './stage.js';

/**
 * Whether the response of bare dipoles is divided out of an image, so that an unpolarised source has its flux at every
 * altitude; it stays where a beam is stated, which includes it.
 */
export type Response = 'divided' | 'kept';

export interface ImageSettings {
  /** Along each side. Default: 128, or the next good size that holds the array. */
  readonly pixels?: number;
  readonly field: ImageField;
  readonly kernelSize: KernelSize;
  /** For a direct image whose stations differ: each is weighted by its own beam, in a gridding kernel of its own. */
  readonly apertures?: readonly ElementBeam[];
  /** Where images are centred, once it is chosen for a run (`withCentre`). */
  readonly normalEnu?: Vector3;
  /** Divided out by default. */
  readonly response?: Response;
  /** What is blank in the image. */
  readonly blanked?: BlankedDiscs;
}

export interface Calibrated {
  readonly gains: GainsCA;
  /** Of the same shape: leakage of each input from the other polarisation; none by default. */
  readonly leakage?: GainsCA;
  readonly solved: Uint8Array;
  /** crossHands : [c], 1 where X and Y have one phase reference; left out where none is known. */
  readonly crossHands?: Uint8Array;
}

/** With what is known of the cross hands. */
export type CalibratedFully = Required<Omit<Calibrated, 'leakage'>> & Pick<Calibrated, 'leakage'>;

/** Gains that change in time, at a moment; of those that replace each other, the ones in force when the data began. */
export type CalibratedAt = (moment: Instant, start?: Instant) => Calibrated;

export const calibratedAt = (
  calibrated: Calibrated | CalibratedAt,
  moment: Instant,
  start?: Instant,
): Calibrated => (typeof calibrated === 'function' ? calibrated(moment, start) : calibrated);

/** The frame of the data's Stokes parameters. */
export type StokesFrame =
  { readonly kind: 'feeds' } | { readonly kind: 'sky' } | { readonly kind: 'unknown'; readonly why: string };

/** The Stokes parameters of an image, and why. */
export interface StokesPlanes {
  /** Q and U are left out. */
  readonly linear?: 'left-out';
  /** noLinear : [m][l], 1 where Q and U have no value. */
  readonly noLinear?: Uint8Array;
  /** For headers and reports. */
  readonly history: readonly string[];
}

/** A picture of one moment: everything needed to write or draw it. */
export interface SkyImage {
  readonly image: ImageCPML;
  /** The weights of each plane: channels are averaged with them; equal where unknown. */
  readonly weights?: WeightsCP;
  readonly plan: ImageGeometry;
  readonly frame: SkyFrame;
  readonly start: Instant;
  readonly durationS: number;
  /** How the frame of its feeds was handled (stokes.ts); for two polarisations. */
  readonly stokes?: StokesPlanes;
}

/** Arrays of an image that its imager fills again for the next one. */
type Pixels = Pick<SkyImage, 'image' | 'weights'>;

/** With arrays of its own: what is kept after the next image is made, or after the stage is closed. */
export const ownImage = <Sky extends Pixels>(sky: Sky): Sky => {
  const { image, weights } = sky;
  const own: Pixels = {
    image: image.slice() as ImageCPML,
    weights: weights?.slice() as WeightsCP | undefined,
  };
  return { ...sky, ...own };
};

/** Lends the arrays of images, which the stage's next image fills again. */
export class ImageLender extends Lender<Pixels> {
  constructor(owner: string) {
    super(owner, ownImage);
  }

  /** The image, whose arrays can be read until then. */
  image<Sky extends SkyImage>(sky: Sky): Sky {
    const { image, weights } = sky;
    const lent = this.lend({ image, weights });
    return Object.defineProperties(
      { ...sky },
      {
        image: { get: () => lent.values.image, enumerable: true },
        weights: { get: () => lent.values.weights, enumerable: true },
      },
    );
  }
}

/** With the common centre of all images of a run: the zenith, or the normal of the stations' plane. */
export function withCentre(
  telescope: Telescope,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): ImageSettings & Required<Pick<ImageSettings, 'normalEnu'>> {
  const { pixels, field, kernelSize, apertures } = settings;
  const normalEnu =
    settings.normalEnu ??
    chooseCentre({
      pixels,
      field,
      frequenciesHz,
      stationsM: stationPositions(telescope),
      kernel: { kind: 'fitted', size: kernelSize },
      patterns: apertures && patternsOf(apertures),
    }).normalEnu;
  return { ...settings, normalEnu };
}

interface CentreOnSky {
  readonly name: 'zenith' | 'array';
  readonly position: SkyPosition;
}

/** The sky position in that direction over the ground; the frame's own zenith where it is that. */
export const centreAt = (frame: SkyFrame, normalEnu: Vector3): CentreOnSky =>
  isZenith(normalEnu)
    ? { name: 'zenith', position: frame.zenith }
    : { name: 'array', position: frame.positionOf(normalEnu) };

/** The centre of an image, at its own moment. */
export const centreOf = ({ plan, frame }: Pick<SkyImage, 'plan' | 'frame'>): CentreOnSky =>
  centreAt(frame, plan.axes.n);

/** J2000 axes round a direction over the ground. */
export const axesAt = (frame: SkyFrame, normalEnu: Vector3): TangentAxes =>
  frame.tangentAxes(centreAt(frame, normalEnu).position);

export function planSky(
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): ImagePlan {
  const options = optionsOf(telescope, frame, frequenciesHz, settings);
  return planImage({ ...options, pixels: settings.pixels ?? fittingPixels(options) });
}

/** The pixels of an image that needs no gridding kernels: round the zenith by default. */
export function planSkyGeometry(
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): ImageGeometry {
  const options = optionsOf(telescope, frame, frequenciesHz, { normalEnu: ZENITH, ...settings });
  const pixels = settings.pixels ?? fittingPixels(options);
  // Pixels coarser than the beam lose sources between them: only where requested.
  if (settings.pixels === undefined) checkFits(pixels, options);
  return planGeometry({ ...options, pixels });
}

/** The least number for an image of this field, so that no source is lost between pixels. */
export const neededPixels = (
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): number => neededCells(optionsOf(telescope, frame, frequenciesHz, { normalEnu: ZENITH, ...settings }));

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
  axes: axesAt(frame, withCentre(telescope, frequenciesHz, settings).normalEnu),
  frequenciesHz,
  polarisations: telescope.polarisations,
  kernel: { kind: 'fitted', size: settings.kernelSize },
  patterns: settings.apertures && patternsOf(settings.apertures),
});

/** Tracking beams are pointed at the zenith. */
function patternsOf(beams: readonly ElementBeam[]): StationPatterns {
  const kinds = [...new Set(beams)];
  const counts = kinds.map((kind) => beams.filter((beam) => beam === kind).length);
  return {
    kinds: kinds.length,
    weights: (frequencyHz, directionEnu) =>
      ownWeights(
        kinds.map((beam) => beam.voltage(frequencyHz, directionEnu, towardsOf(beam, ZENITH))),
        counts,
      ),
    ofStation: beams.map((beam) => kinds.indexOf(beam)),
  };
}

const EMPTY = 'no data are left';

/** Refuses an image without data before anything is written. */
export function refuseEmpty(image: ImageCPML, why: string, fix: string): void {
  if (image.every((value) => Number.isNaN(value))) refuse('image', `${EMPTY}: ${why}`, fix);
}

/** Where the observation continues all the same. */
/** Calls `left` instead of failing where none of an image's data are left. */
export const leavingOutEmpty = <In, Out>(
  stage: Stage<In, Out>,
  left: (why: string) => void | Promise<void>,
): Stage<In, Out> => {
  const tried = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isEmptyImage(error)) throw error;
      await left(error.what);
    }
  };
  return {
    ...stage,
    push: (item, emit) => tried(() => stage.push(item, emit)),
    flush: (emit) => tried(() => stage.flush(emit)),
  };
};

const isEmptyImage = (error: unknown): error is CorellaError =>
  error instanceof CorellaError && error.what.startsWith(EMPTY);
