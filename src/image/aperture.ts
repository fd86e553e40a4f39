/** How many grid cells an array covers, and the pixels that its image needs. */
import { realNumber, refuse } from '../core/errors.js';
import { formatHz, RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import type { TangentAxes } from '../sky/frame.js';
import { MARGIN } from './kernels.js';

export type ImageField =
  | { readonly kind: 'all-sky' }
  /** A square this wide around the phase centre. */
  | { readonly kind: 'field'; readonly widthDeg: number };

export type KernelSize = 1 | 3 | 5 | 7;
/** The image options that determine the size of the grid. */
interface Aperture {
  readonly stationsM: readonly Vector3[];
  readonly axes: TangentAxes;
  readonly frequenciesHz: Float64Array;
  readonly field: ImageField;
  readonly kernel?: { readonly size: KernelSize };
}

export const WHERE = 'image';
/** For an image round the zenith: fewer are useless, and for more there is the wide-field imager. */
export const LEAST_PIXELS = 16;
export const MOST_PIXELS = 1024;

/** Sizes with fast transforms: 2ⁿ and a quarter or a half more. */
const goodPixels = [128, 160, 192, 256, 320, 384, 512, 640, 768, 1024] as const;

/** Grid cells along a side that hold the array, whatever the pixels. */
export const neededCells = (options: Aperture): number => apertureOf(options).needed;

/** The default number of pixels: 128, or the next good size that holds the array. */
export function fittingPixels(options: Aperture): number {
  const { needed } = apertureOf(options);
  // Where none does, planImage refuses the largest, and reports the field that would fit.
  return goodPixels.find((pixels) => needed <= pixels) ?? MOST_PIXELS;
}

const spread = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.max(a, b), -Infinity) - values.reduce((a, b) => Math.min(a, b), Infinity);

export const sizeOf = ({ kernel }: Pick<Aperture, 'kernel'>): KernelSize => kernel?.size ?? 5;
export const halfWidthOf = (field: ImageField): number =>
  field.kind === 'all-sky'
    ? 1
    : Math.sin(
        (realNumber(WHERE, 'field width in degrees', field.widthDeg, 1e-6, 180) / 2) * RADIANS_PER_DEGREE,
      );
export const placesOf = (
  stationsM: readonly Vector3[],
  axes: TangentAxes,
): { l: number; m: number; n: number }[] =>
  stationsM.map((position) => ({
    l: dot(position, axes.l),
    m: dot(position, axes.m),
    n: dot(position, axes.n),
  }));

/** The wider of the array's two extents along an image. */
export function acrossOf(stationsM: readonly Vector3[], axes: TangentAxes): number {
  const places = placesOf(stationsM, axes);
  return Math.max(spread(places.map(({ l }) => l)), spread(places.map(({ m }) => m)));
}

/** How wide the array is, and how many grid cells it needs. */
function apertureOf(options: Aperture): {
  readonly acrossM: number;
  readonly acrossWavelengths: number;
  readonly highestHz: number;
  readonly needed: number;
} {
  const acrossM = acrossOf(options.stationsM, options.axes);
  if (!Number.isFinite(acrossM)) refuse(WHERE, 'a station has no finite position', 'check the telescope');
  const highestHz = options.frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  const acrossWavelengths = (acrossM * highestHz) / SPEED_OF_LIGHT_M_PER_S;
  // Grid cells are as wide as the image is narrow, however many pixels it has. Centred on cell n/2 of 0 … n − 1, with
  // each antenna rounded to its nearest cell: two cells of slack.
  const needed = acrossWavelengths * 2 * MARGIN * halfWidthOf(options.field) + sizeOf(options) + 2;
  return { acrossM, acrossWavelengths, highestHz, needed };
}

/** Refuses arrays larger than the grid, and reports what would fit. */
export function checkFits(pixels: number, options: Aperture): void {
  const { stationsM, field } = options;
  const { acrossM, acrossWavelengths, highestHz, needed } = apertureOf(options);
  if (needed <= pixels) return;
  const size = sizeOf(options);
  const halfWidth = halfWidthOf(field);
  const neededPixels = 2 * Math.ceil(needed / 2);
  const narrower = (halfWidth * (pixels - size - 2)) / (needed - size - 2);
  const widthDeg = Number((2 * Math.asin(narrower) * (1 / RADIANS_PER_DEGREE) * 0.995).toPrecision(3));
  const wholeSky = field.kind === 'all-sky' ? 'the whole sky' : `${field.widthDeg}°`;
  refuse(
    WHERE,
    `${stationsM.length} stations ${acrossM.toFixed(1)} m across are ${acrossWavelengths.toFixed(1)} wavelengths at ` +
      `${formatHz(highestHz)} and need ${neededPixels} grid cells (with gridding kernels of ${size} × ${size}) to image ` +
      `${wholeSky}, where ${pixels} pixels give ${pixels}`,
    [
      ...(neededPixels <= MOST_PIXELS ? [`take ${neededPixels} pixels`] : []),
      `image a field of at most ${widthDeg}° (products.images.field)`,
      'or leave out the outermost stations',
    ].join(', '),
  );
}
