/**
 * What a wide image will be, before any data: its pixels, the kernels along u, v and w, the grid and the planes of w
 * under it, and the memory all that takes.
 *
 *   image(l, m) = Σ weight · Re[ V e^(−2πi (u l + v m + w (n − 1))) ] / Σ weight        (n = √(1 − l² − m²))
 *
 * V has its fringes stopped at the centre, u, v and w in wavelengths. Visibilities are spread over grids of (u, v), a
 * stack of planes along w; each plane is transformed, multiplied by e^(−2πi w_p (n − 1)) and added up, and the kernels'
 * own transforms are divided out. w is positive: where it is not, the pair is reversed.
 *
 * n − 1 runs from nmin to 0, so visibilities are phase-rotated by its middle first: |y| ≤ halfRange, y = n − 1 −
 * middle, and half the planes are enough.
 */
import { realNumber, refuse, wholeNumber } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import { chooseKernels, type WideCosts, type WidePrecision } from './choice.js';
import { fitTaps, prepareTransform, type Kernel, type Taps } from './kernel.js';

export type { WidePrecision };

const WHERE = 'image';
export const DEFAULT_ACCURACY = 1e-4;
/** Single precision is not enough below it. */
const LEAST_SINGLE = 3e-5;
const LEAST_PIXELS = 16;
const MOST_PIXELS = 32_768;
const MOST_PLANES = 65_535;
/** If the memory is unknown, so many planes are held, and as many more as fit in a gibibyte. */
const LEAST_HELD = 4;
const USUAL_PLANES_BYTES = 2 ** 30;

/** What is known of the visibilities beforehand; `boundsOf` computes it (rows.ts). */
export interface WideBounds {
  /** The least and the most |w| of all visibilities, in wavelengths. */
  readonly leastWLambda: number;
  readonly mostWLambda: number;
  /** Their approximate number: it decides between narrow kernels and few planes. */
  readonly visibilities: number;
}

export interface WideOptions {
  /** n: the image is n × n, even. */
  readonly pixels: number;
  /** Direction cosine from one pixel to the next: radians of a degree-sized CDELT in a SIN projection. */
  readonly pixelCosine: number;
  readonly bounds: WideBounds;
  /** Largest error of a pixel over the image's peak, from 1e-7 to 1e-2; 1e-4 by default. */
  readonly accuracy?: number;
  /**
   * `flux` (default): a single source of flux I peaks at I at any position, the common convention. `flux-over-n`:
   * divided by n, which turns flux in a pixel of dl·dm into flux in a solid angle dl·dm/n; the edges of an all-sky
   * image rise without bound, and the horizon itself is blank.
   */
  readonly scale?: WideScale;
  /** The most memory for planes, sums and tables together; by default a gibibyte of planes, or four of them. */
  readonly memoryBytes?: number;
  /** The backend whose costs decide; `cpu` by default. */
  readonly costs?: keyof typeof costsOf;
}

export type WideScale = 'flux' | 'flux-over-n';

export interface WidePlan {
  readonly pixels: number;
  readonly pixelCosine: number;
  readonly accuracy: number;
  readonly precision: WidePrecision;
  readonly scale: WideScale;
  readonly bounds: WideBounds;
  /** Cells along u and along v. */
  readonly gridCells: number;
  readonly support: number;
  readonly taps: Taps;
  /** corrections : [distance from the centre, 0 … n/2], 1/φ̂, for l and for m. */
  readonly corrections: Float64Array;
  readonly w: WPlanes;
  /** n − 1 in its middle, and its range around it. */
  readonly middle: number;
  readonly halfRange: number;
  /** So many of the planes are in memory at once; the rest are gridded after them, from the same visibilities. */
  readonly planesHeld: number;
  readonly memoryBytes: number;
}

interface WPlanes {
  /** 1 where w changes nothing within the field. */
  readonly support: number;
  readonly planes: number;
  readonly spacingLambda: number;
  /** w of plane 0. */
  readonly firstLambda: number;
  readonly taps: Taps;
  /** 1/φ̂ along w, a Chebyshev series in 2(y/halfRange)² − 1. */
  readonly series: Float64Array;
}

/**
 * In ns of one core, or of one card: measured on a Neoverse N1 (cpu, and reference, which is TypeScript) and an H200
 * (cuda), but only their ratios count.
 */
const costsOf = {
  reference: { visibility: 1500, cell: 9, transform: 1.1, pixel: 10, planeCell: 6 },
  cpu: { visibility: 40, cell: 0.3, transform: 0.12, pixel: 1.5, planeCell: 0.4 },
  cuda: { visibility: 0.1, cell: 0.0025, transform: 0.0005, pixel: 0.02, planeCell: 0.01 },
} satisfies Record<string, WideCosts>;

/** Grid, planes and kernel of an image by u, v and w, for the requested accuracy; independent of the machine. */
export function planWide(options: WideOptions): WidePlan {
  const { accuracy = DEFAULT_ACCURACY, scale = 'flux', memoryBytes } = options;
  const pixels = wholeNumber(WHERE, 'pixels', options.pixels, LEAST_PIXELS, MOST_PIXELS);
  if (pixels % 2 === 1) refuse(WHERE, `${pixels} pixels`, `give an even number such as ${pixels + 1}`);
  const pixelCosine = realNumber(WHERE, 'pixel size (direction cosine)', options.pixelCosine, 1e-12, 1);
  realNumber(WHERE, 'accuracy', accuracy, 1e-7, 1e-2);
  const { leastWLambda, mostWLambda, visibilities } = checkBounds(options.bounds);
  const precision = accuracy >= LEAST_SINGLE ? 'float32' : 'float64';
  const reach = Math.min(1, 2 * ((pixels / 2) * pixelCosine) ** 2);
  const halfRange = depth(reach) / 2;
  const rangeLambda = mostWLambda - leastWLambda;
  const choice = chooseKernels({
    pixels,
    accuracy,
    precision,
    halfRange,
    rangeLambda,
    visibilities,
    costs: costsOf[options.costs ?? 'cpu'],
  });
  const { uv, gridCells, planes, spacingLambda } = choice;
  if (planes > MOST_PLANES) {
    const fix = 'image a smaller field, or ask for less accuracy';
    refuse(WHERE, `${planes} planes of w, more than ${MOST_PLANES}`, fix);
  }
  const bytes = bytesOf({ pixels, gridCells, precision });
  const room =
    memoryBytes === undefined
      ? Math.max(LEAST_HELD, Math.floor(USUAL_PLANES_BYTES / bytes.plane))
      : Math.floor((memoryBytes - bytes.fixed) / bytes.plane);
  if (memoryBytes !== undefined && room < 1) {
    const needed = formatBytes(bytes.fixed + bytes.plane);
    const fix = 'make the image smaller, or allow more memory';
    refuse(WHERE, `${pixels}² pixels take ${needed}, more than ${formatBytes(memoryBytes)}`, fix);
  }
  const planesHeld = Math.min(planes, room);
  return {
    pixels,
    pixelCosine,
    accuracy,
    precision,
    scale,
    bounds: options.bounds,
    gridCells,
    support: uv.support,
    taps: fitTaps(uv, uv.oversampling, TAPS_SHARE * accuracy),
    corrections: correctionsOf(uv, pixels, gridCells),
    w: planesOf(choice.w, { planes, spacingLambda, leastWLambda, halfRange, accuracy }),
    middle: -halfRange,
    halfRange,
    planesHeld,
    memoryBytes: bytes.fixed + planesHeld * bytes.plane,
  };
}

function checkBounds(bounds: WideBounds): WideBounds {
  const { leastWLambda, mostWLambda, visibilities } = bounds;
  realNumber(WHERE, 'the least |w| in wavelengths', leastWLambda, 0, 1e12);
  realNumber(WHERE, 'the most |w| in wavelengths', mostWLambda, leastWLambda, 1e12);
  realNumber(WHERE, 'visibilities', visibilities, 0, Number.MAX_SAFE_INTEGER);
  return bounds;
}

/** A few tenths of a second: products of a visibility and a pixel up to which images are summed by the formula. */
const SOON_SUMMED = 1e7;

/** Whether TypeScript sums this image by the formula, which is exact, in a short time. */
export const isSoonSummed = ({ pixels, bounds }: Pick<WidePlan, 'pixels' | 'bounds'>): boolean =>
  bounds.visibilities * pixels ** 2 <= SOON_SUMMED;

/** 1 − n for l² + m² = r², without the difference of two numbers near 1. */
export const depth = (r2: number): number => r2 / (1 + Math.sqrt(1 - r2));

/** The fraction of the accuracy allowed to polynomials. */
const TAPS_SHARE = 0.2;

function correctionsOf(kernel: Kernel, pixels: number, gridCells: number): Float64Array {
  const transform = prepareTransform(kernel);
  return Float64Array.from({ length: pixels / 2 + 1 }, (_, k) => 1 / transform(k / gridCells));
}

const SERIES_TERMS = 20;

function planesOf(
  kernel: (Kernel & { readonly oversampling: number }) | undefined,
  options: {
    readonly planes: number;
    readonly spacingLambda: number;
    readonly leastWLambda: number;
    readonly halfRange: number;
    readonly accuracy: number;
  },
): WPlanes {
  const { planes, spacingLambda, leastWLambda, halfRange, accuracy } = options;
  const series = new Float64Array(SERIES_TERMS);
  if (!kernel) {
    series[0] = 1;
    const taps = { degree: 0, coefficients: Float64Array.of(1) };
    return { support: 1, planes, spacingLambda, firstLambda: leastWLambda, taps, series };
  }
  const transform = prepareTransform(kernel);
  for (let i = 0; i < SERIES_TERMS; i++) {
    const angle = (Math.PI * (i + 0.5)) / SERIES_TERMS;
    const value = 1 / transform(spacingLambda * halfRange * Math.sqrt((Math.cos(angle) + 1) / 2));
    for (let term = 0; term < SERIES_TERMS; term++) {
      series[term] += (value * Math.cos(term * angle) * (term === 0 ? 1 : 2)) / SERIES_TERMS;
    }
  }
  return {
    support: kernel.support,
    planes,
    spacingLambda,
    series,
    firstLambda: leastWLambda - (spacingLambda * kernel.support) / 2,
    taps: fitTaps(kernel, kernel.oversampling, TAPS_SHARE * accuracy),
  };
}

/** Sums and the tables of phase factors are float64 whatever the planes are. */
function bytesOf(options: {
  readonly pixels: number;
  readonly gridCells: number;
  readonly precision: WidePrecision;
}): { readonly fixed: number; readonly plane: number } {
  const { pixels, gridCells, precision } = options;
  const sums = (16 + 8) * pixels ** 2;
  const tables = 2 * 16 * (pixels / 2 + 1) ** 2;
  return { fixed: sums + tables, plane: gridCells ** 2 * (precision === 'float32' ? 8 : 16) };
}
