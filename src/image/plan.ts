/**
 * What an image will be, before any data: its pixels, the grid under it, and each antenna's gridding kernel on it.
 *
 *        image, n × n pixels                        grid, n × n cells
 *        l_k = (k − n/2)·pixel                      Δu = 1 / (n·pixel) wavelengths
 *        ┌───────────────┐  ─┐                      ┌───────────────┐
 *        │    .─────.    │   │ margin               │     ┌─┐       │  each antenna: K × K cells whose
 *        │  ╱  shown  ╲  │   │                      │     └─┘ ┌─┐   │  first is `corners`, weights `taps`
 *        │ (   (n/2,   ) │   n        FFT           │   ┌─┐   └─┘   │
 *        │  ╲   n/2)  ╱  │   │       ◄────          │   └─┘         │  the aperture's middle at cell n/2
 *        │    '─────'    │   │                      │               │
 *        └───────────────┘  ─┘                      └───────────────┘
 *
 * The shown part is the hemisphere (or the requested field); the image is MARGIN times wider.
 */
import { tapsCSKK, type TapsCSKK } from '../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import { median } from '../core/median.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import type { TangentAxes } from '../sky/frame.js';
import {
  checkFits,
  halfWidthOf,
  LEAST_PIXELS,
  MOST_PIXELS,
  placesOf,
  sizeOf,
  WHERE,
  type ImageField,
  type KernelSize,
} from './aperture.js';
import { MARGIN, prepareKernelFitter, taper } from './kernels.js';
import type { AntennaOffset } from './projection.js';
import { nodePatterns, type StationPatterns } from './station-patterns.js';

export type { ImageField, KernelSize };

export type ImageKernel =
  /** K × K weights fitted to each antenna's place; K = 1 is the nearest cell with weight 1. */
  | { readonly kind: 'fitted'; readonly size: KernelSize }
  /** The user's own, an antenna's aperture illumination for instance; see `corners` for their position. */
  | { readonly kind: 'own'; readonly size: KernelSize; readonly taps: TapsCSKK };

export interface ImageOptions {
  /** n: the image is n × n, even. */
  readonly pixels: number;
  readonly field: ImageField;
  /** Positions of the stations: x east, y north, z up. */
  readonly stationsM: readonly Vector3[];
  /** J2000 east and north at the phase centre, written in ENU at the moment of the data. */
  readonly axes: TangentAxes;
  readonly frequenciesHz: Float64Array;
  readonly polarisations: 1 | 2;
  /** Default: fitted, 5 × 5. */
  readonly kernel?: ImageKernel;
  /**
   * How an antenna's height above the array's plane is handled. `project` (default) includes it in the gridding kernel,
   * so that it is right all over the field; `phase-centre` only in the middle.
   */
  readonly heights?: 'project' | 'phase-centre';
  /** The weights of stations where they differ, in fitted kernels of 3 × 3 cells or more; all equal by default. */
  readonly patterns?: StationPatterns;
}

/** The pixels of an image, and its field: all that is needed to write or draw one, however it is made. */
export interface ImageGeometry {
  readonly pixels: number;
  /** Direction cosine from one pixel to the next. */
  readonly pixelSize: number;
  readonly field: ImageField;
  readonly axes: TangentAxes;
  readonly stationsM: readonly Vector3[];
  readonly stations: number;
  readonly frequenciesHz: Float64Array;
  readonly channels: number;
  readonly polarisations: 1 | 2;
  readonly products: 1 | 4;
  /** shown : [m][l], 1 where the pixel is above the horizon and inside the field. */
  readonly shown: Uint8Array;
  /** The patterns that stations are weighted by where they differ. */
  readonly patterns?: StationPatterns;
}

export interface ImagePlan extends ImageGeometry {
  readonly kernelSize: KernelSize;
  /** corners : [c][s][row, column], the first cell of each antenna's gridding kernel; its middle is the nearest cell. */
  readonly corners: Int32Array;
  readonly taps: TapsCSKK;
  /**
   * centre : [c][s] complex, the phase of a source at the image's centre at each station, by its height: the beam is
   * made of it.
   */
  readonly centre: Float64Array;
  /** correction : [m][l], the factor that takes the taper out of a power image. */
  readonly correction: Float64Array;
  /** Only rows firstRow … endRow − 1 of the grid are ever touched, in any channel. */
  readonly firstRow: number;
  readonly endRow: number;
  /** kernelErrors : [c][s], rms over the field of an antenna's response relative to the exact one, less 1. */
  readonly kernelErrors: Float64Array;
}

const cellWavelengths = (pixels: number, pixelSize: number): number => 1 / (pixels * pixelSize);

/** Of images without a grid of their own. */
const MOST_WIDE_PIXELS = 32_768;

/** The pixels of an image. */
export function planGeometry(
  options: Omit<ImageOptions, 'kernel' | 'heights'>,
  mostPixels = MOST_WIDE_PIXELS,
): ImageGeometry {
  const { field, stationsM, axes, frequenciesHz, polarisations, patterns } = options;
  const pixels = wholeNumber(WHERE, 'pixels', options.pixels, LEAST_PIXELS, mostPixels);
  if (pixels % 2 === 1) refuse(WHERE, `${pixels} pixels`, `give an even number such as ${pixels + 1}`);
  const stations = wholeNumber(WHERE, 'stations', stationsM.length, 1, 65_535);
  const channels = wholeNumber(WHERE, 'channels', frequenciesHz.length, 1, 2 ** 20);
  for (const frequencyHz of frequenciesHz) realNumber(WHERE, 'frequency in Hz', frequencyHz, 1, 1e13);
  const halfWidth = halfWidthOf(field);
  const pixelSize = (2 * MARGIN * halfWidth) / pixels;
  return {
    pixels,
    pixelSize,
    field,
    axes,
    stationsM,
    stations,
    frequenciesHz,
    channels,
    polarisations,
    products: polarisations === 1 ? 1 : 4,
    shown: shownPixels(pixels, pixelSize, halfWidth, axes),
    patterns,
  };
}

/** Plans pixels, grid and gridding kernels of an image; refuses what does not fit and reports what would. */
export function planImage(options: ImageOptions): ImagePlan {
  const { stationsM, axes, frequenciesHz, heights = 'project', patterns } = options;
  const kernel = options.kernel ?? { kind: 'fitted', size: sizeOf(options) };
  const geometry = planGeometry(options, MOST_PIXELS);
  const { pixels, pixelSize, stations, channels } = geometry;
  const halfWidth = halfWidthOf(options.field);
  const size = kernel.size;
  const places = placesOf(stationsM, axes);
  const middle = {
    l: halfway(places.map(({ l }) => l)),
    m: halfway(places.map(({ m }) => m)),
    // The median station's height: gridding kernels represent small heights best, and one outrigger on a hill must not
    // shift all.
    n: median(places.map(({ n }) => n)),
  };
  checkFits(pixels, options);

  const taps = tapsCSKK(
    kernel.kind === 'own' ? kernel.taps : new Float64Array(2 * channels * stations * size * size),
    channels,
    stations,
    size,
  );
  const cell = cellWavelengths(pixels, pixelSize);
  const isTapered = kernel.kind === 'fitted' && size > 1;
  const fitter = prepareKernelFitter({
    size,
    halfWidth,
    cellWavelengths: cell,
    taper: isTapered ? 'kaiser-bessel' : 'none',
    heights,
  });
  if (patterns) checkPatterns(patterns, stations, isTapered);
  const corners = new Int32Array(2 * channels * stations);
  const kernelErrors = new Float64Array(channels * stations);
  const centre = new Float64Array(2 * channels * stations);
  for (let c = 0; c < channels; c++) {
    const wavelengthM = SPEED_OF_LIGHT_M_PER_S / frequenciesHz[c];
    const own = patterns && nodePatterns(patterns, fitter.quarter, axes, frequenciesHz[c]);
    for (const [s, place] of places.entries()) {
      const row = pixels / 2 + (place.m - middle.m) / wavelengthM / cell;
      const column = pixels / 2 + (place.l - middle.l) / wavelengthM / cell;
      const at = c * stations + s;
      corners[2 * at] = Math.round(row) - (size - 1) / 2;
      corners[2 * at + 1] = Math.round(column) - (size - 1) / 2;
      const antenna: AntennaOffset = {
        rowOffset: row - Math.round(row),
        columnOffset: column - Math.round(column),
        heightWavelengths: (place.n - middle.n) / wavelengthM,
      };
      centre[2 * at] = Math.cos(2 * Math.PI * antenna.heightWavelengths);
      centre[2 * at + 1] = Math.sin(2 * Math.PI * antenna.heightWavelengths);
      const start = at * size * size;
      if (kernel.kind === 'fitted' && !isTapered) turnOnly(taps, start, antenna.heightWavelengths);
      kernelErrors[at] = isTapered
        ? fitter.fit(taps, start, antenna, own?.[patterns?.ofStation[s] ?? 0])
        : fitter.error(taps, start, antenna);
    }
  }
  if (isTapered) checkKernels(kernelErrors, heights);
  const rows = corners.filter((_, at) => at % 2 === 0);
  return {
    ...geometry,
    kernelSize: size,
    corners,
    taps,
    centre,
    correction: taperCorrection(pixels, cell * pixelSize, isTapered ? size : 1),
    firstRow: rows.reduce((least, row) => Math.min(least, row), pixels),
    endRow: rows.reduce((most, row) => Math.max(most, row + size), 0),
    kernelErrors,
  };
}

function checkPatterns({ kinds, ofStation }: StationPatterns, stations: number, isTapered: boolean): void {
  if (!isTapered)
    refuse(
      WHERE,
      'one cell cannot hold what a station is weighed by',
      'take products.images.kernel: 3, 5 or 7',
    );
  if (ofStation.length !== stations || ofStation.some((kind) => !(kind >= 0 && kind < kinds)))
    refuse(
      WHERE,
      `${ofStation.length} stations of ${kinds} kinds for ${stations}`,
      'name a kind for each station',
    );
}

/** Direction cosine of a pixel's centre, along either axis. */
export const pixelCosine = (plan: Pick<ImagePlan, 'pixels' | 'pixelSize'>, index: number): number =>
  (index - plan.pixels / 2) * plan.pixelSize;

const halfway = (values: readonly number[]): number => {
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return (least + most) / 2;
};

/** The nearest cell, with the phase of the height towards the phase centre: the best that one number can do. */
function turnOnly(taps: TapsCSKK, start: number, heightWavelengths: number): void {
  taps[2 * start] = Math.cos(2 * Math.PI * heightWavelengths);
  taps[2 * start + 1] = -Math.sin(2 * Math.PI * heightWavelengths);
}

/** A kernel whose response is half wrong makes no image; small gridding kernels that are merely coarse pass. */
const WORST_KERNEL_ERROR = 0.5;

/** Refuses arrays that extend so far out of the image's plane that K × K cells cannot represent them. */
function checkKernels(kernelErrors: Float64Array, heights: 'project' | 'phase-centre'): void {
  if (heights === 'phase-centre') return;
  const mean = kernelErrors.reduce((sum, error) => sum + error ** 2, 0) / kernelErrors.length;
  const percent = Math.round(100 * Math.sqrt(mean));
  if (percent <= 100 * WORST_KERNEL_ERROR) return;
  refuse(
    WHERE,
    `the stations are so far from the plane across the phase centre that their gridding kernels are ${percent} % wrong`,
    'put the phase centre at the zenith, image a narrower field, or a larger products.images.kernel',
  );
}

function taperCorrection(pixels: number, cyclesPerCellPerPixel: number, size: number): Float64Array {
  const tapers = Float64Array.from({ length: pixels }, (_, k) =>
    taper(size, (k - pixels / 2) * cyclesPerCellPerPixel),
  );
  const correction = new Float64Array(pixels * pixels);
  for (let row = 0; row < pixels; row++) {
    for (let column = 0; column < pixels; column++) {
      correction[row * pixels + column] = 1 / (tapers[row] * tapers[column]) ** 2;
    }
  }
  return correction;
}

function shownPixels(pixels: number, pixelSize: number, halfWidth: number, axes: TangentAxes): Uint8Array {
  const shown = new Uint8Array(pixels * pixels);
  for (let row = 0; row < pixels; row++) {
    for (let column = 0; column < pixels; column++) {
      const l = (column - pixels / 2) * pixelSize;
      const m = (row - pixels / 2) * pixelSize;
      const radius = l * l + m * m;
      if (radius >= 1 || Math.abs(l) > halfWidth || Math.abs(m) > halfWidth) continue;
      const up = l * axes.l.z + m * axes.m.z + Math.sqrt(1 - radius) * axes.n.z;
      if (up > 0) shown[row * pixels + column] = 1;
    }
  }
  return shown;
}
