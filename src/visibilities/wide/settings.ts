/** Settings of a wide image, its pixels for an array, and its products: Stokes parameters, or the only hand in a file. */
import { realNumber, refuse } from '../../core/errors.js';
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { angleUnits } from '../../fields/index.js';
import type { CleanOptions, HandTally, ImageField, WideProduct, WideWeighting } from '../../image/index.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import { longestBaselineM } from '../../stages/index.js';

const WHERE = 'image';
/** From horizon to horizon, in direction cosines. */
const wholeSky = 2;
const FEWEST_PIXELS = 16;

/** Any two determine the third; the defaults follow from the beam. */
export interface WideFieldOptions {
  readonly pixels?: number;
  /** From edge to edge, across the centre. */
  readonly widthDeg?: number;
  /** Pixel scale at the centre. */
  readonly cellDeg?: number;
  /** With pixels, instead of either: the pixel scale in direction cosines, as in another plan. */
  readonly pixelCosine?: number;
}

export interface WideSettings {
  readonly centre: PhaseCentre;
  readonly field: WideFieldOptions;
  /** Error of a pixel relative to the peak; by default 1e-4. */
  readonly accuracy?: number;
  readonly weighting: WideWeighting;
  /** Only `I`, or all four from two polarisations. */
  readonly stokes: 'I' | 'IQUV';
  /** If a hand is lost in every channel: `accept` leaves the affected planes of IQUV blank. */
  readonly lostHand?: 'accept';
  /** All channels in one image, each gridded at its own wavelength; or a cube. */
  readonly channels: 'together' | 'apart';
  /** CLEAN, if given; for Stokes I only. */
  readonly clean?: CleanOptions;
}

export interface WidePixels {
  readonly pixels: number;
  readonly pixelCosine: number;
  /** For pictures and headers. */
  readonly field: ImageField;
}

/** Pixels across the narrowest beam, λ over the longest baseline. */
export const PIXELS_A_BEAM = 4;
/** Unless a field or pixels are given. */
export const USUAL_PIXELS = 1024;
const MOST_PIXELS = 32_768;

/** The longest baseline in wavelengths. */
export function longestWavelengths(stationsM: readonly Vector3[], frequenciesHz: Float64Array): number {
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  return (longestBaselineM(stationsM) * highestHz) / SPEED_OF_LIGHT_M_PER_S;
}

export function choosePixels(asked: WideFieldOptions, longestLambda: number): WidePixels {
  const { pixels, widthDeg, cellDeg } = asked;
  if (pixels !== undefined && asked.pixelCosine !== undefined) {
    return { pixels, pixelCosine: asked.pixelCosine, field: fieldOfPixels(pixels, asked.pixelCosine) };
  }
  if (pixels !== undefined && widthDeg !== undefined && cellDeg !== undefined) {
    refuse(WHERE, 'pixels, field and cell are all given', 'leave one out: two of them determine the third');
  }
  if (cellDeg !== undefined) checkCell(cellDeg, pixels);
  const width =
    widthDeg === undefined
      ? undefined
      : 2 * Math.sin((realNumber(WHERE, 'field in degrees', widthDeg, 1e-9, 180) / 2) * RADIANS_PER_DEGREE);
  // Without a baseline there is no resolution: the whole sky in a few pixels.
  const fine = longestLambda > 0 ? 1 / (PIXELS_A_BEAM * longestLambda) : wholeSky / 32;
  const cosine =
    cellDeg === undefined
      ? pixels !== undefined && width !== undefined
        ? width / pixels
        : Math.min(fine, wholeSky / 32)
      : cellDeg * RADIANS_PER_DEGREE;
  const most =
    pixels ?? Math.min(USUAL_PIXELS, Math.max(FEWEST_PIXELS, 2 * Math.ceil(wholeSky / cosine / 2)));
  const count =
    pixels ?? (width === undefined ? most : Math.max(FEWEST_PIXELS, 2 * Math.ceil(width / cosine / 2)));
  checkCount(count, width, cosine);
  // A requested field is exact if no pixel scale was given.
  const pixelCosine = width !== undefined && cellDeg === undefined ? width / count : cosine;
  return { pixels: count, pixelCosine, field: fieldOfPixels(count, pixelCosine) };
}

/** A field in pixels that are far smaller than it. */
function checkCount(count: number, width: number | undefined, cosine: number): void {
  if (count <= MOST_PIXELS || width === undefined) return;
  const written = (cosines: number): string => writtenAngle(2 * Math.asin(cosines / 2) * DEGREES_PER_RADIAN);
  refuse(
    WHERE,
    `a field of ${written(width)} takes ${count} pixels of ${written(cosine)} along each side, more than ${MOST_PIXELS}`,
    `take products.images.field: ${written(USUAL_PIXELS * cosine)}, or larger pixels with products.images.cell: ${written(width / USUAL_PIXELS)}`,
  );
}

/** As an option takes it, rounded down to three digits. */
function writtenAngle(degrees: number): string {
  const [unit, size] = (['deg', 'arcmin', 'arcsec', 'mas'] as const)
    .map((name) => [name, angleUnits[name]] as const)
    .find(([name, each]) => degrees >= each || name === 'mas') ?? ['deg', 1];
  const value = degrees / size;
  const step = 10 ** (Math.floor(Math.log10(value)) - 2);
  return `${Number((Math.floor(value / step + 1e-9) * step).toPrecision(3))}${unit}`;
}

/** A missing unit would give pixels of whole degrees, and images in which the sky is a few pixels. */
function checkCell(cellDeg: number, pixels = FEWEST_PIXELS): void {
  realNumber(WHERE, 'cell in degrees', cellDeg, 1e-9, 30);
  if (pixels * cellDeg * RADIANS_PER_DEGREE > 2 * wholeSky)
    refuse(
      WHERE,
      `${pixels} pixels of ${cellDeg}° are twice as wide as the sky and more`,
      `take a smaller products.images.cell, with its unit, like ${cellDeg}arcmin or ${cellDeg}arcsec`,
    );
}

/** Whole sky once the horizon is in the image. */
function fieldOfPixels(pixels: number, pixelCosine: number): ImageField {
  const half = (pixels / 2) * pixelCosine;
  return half >= 1
    ? { kind: 'all-sky' }
    : { kind: 'field', widthDeg: 2 * Math.asin(half) * DEGREES_PER_RADIAN };
}

/** The products in a file. */
export interface Held {
  readonly polarisations: 1 | 2;
  /** AIPS codes of the available products, if some are missing. */
  readonly codes?: readonly number[];
}

/** The only available product: XX for one polarisation, or YY in a file without any other. */
export const loneProduct = ({ polarisations, codes }: Held): 'XX' | 'YY' | undefined =>
  polarisations === 1 ? 'XX' : codes?.length === 1 && [-6, -2].includes(codes[0]) ? 'YY' : undefined;

/** The only hand left for I, if the other is lost on every pair at all times: the image is of that hand. */
export const loneHandOf = ({ both, one, second }: HandTally): 'XX' | 'YY' | undefined =>
  both > 0 || one === 0 ? undefined : second === 0 ? 'XX' : second === one ? 'YY' : undefined;

export function productsOf(held: Held, { stokes, clean }: WideSettings): readonly WideProduct[] {
  const lone = loneProduct(held);
  if (stokes === 'IQUV' && lone)
    refuse('image', 'one polarisation has no Stokes parameters', 'leave out products.images.stokes');
  if (stokes === 'IQUV' && clean)
    refuse('image', 'CLEAN is of Stokes I alone', 'leave out products.images.stokes');
  if (lone) return [lone];
  return stokes === 'I' ? ['I'] : ['XX', 'YY', 'Re XY', 'Im XY'];
}
