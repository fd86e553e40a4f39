/**
 * The choice of kernels, grid size and number of planes. Along u, v and w each the error may be accuracy/√3; of all
 * pairs of kernels that meet it the cheapest is used: wide kernels on few grid cells and planes, or narrow ones on
 * more. A long range of w favours few planes, many visibilities favour narrow kernels.
 */
import { refuse } from '../../core/errors.js';
import { gridSides, transformCost } from './grid-size.js';
import { kernelTable, type KernelRow } from './kernel-table.js';

export type WidePrecision = 'float32' | 'float64';

/** Absolute times do not matter; only their ratios do. */
export interface WideCosts {
  /** The fixed cost of a visibility, without its kernels. */
  readonly visibility: number;
  /** For each grid cell and plane that it is added to. */
  readonly cell: number;
  /** For each unit of transformCost, an element of a transform. */
  readonly transform: number;
  /** For each pixel of a plane. */
  readonly pixel: number;
  /** For each cell of a plane, which is zeroed, filled and read. */
  readonly planeCell: number;
}

interface Choice {
  readonly uv: KernelRow;
  /** Undefined where w changes no phase within the field: one plane is enough. */
  readonly w: KernelRow | undefined;
  readonly gridCells: number;
  readonly planes: number;
  /** From plane to plane, wavelengths. */
  readonly spacingLambda: number;
  readonly cost: number;
}

interface ChoiceOptions {
  readonly pixels: number;
  readonly accuracy: number;
  readonly precision: WidePrecision;
  /** Half the range of n − 1 over the image. */
  readonly halfRange: number;
  /** Of |w|. */
  readonly rangeLambda: number;
  readonly visibilities: number;
  readonly costs: WideCosts;
}

/** Supports for which there are kernels: along u and v the float32 ones stop early, at float32's accuracy. */
const MOST_SUPPORT = { float32: 8, float64: 11 } satisfies Record<WidePrecision, number>;
/**
 * The rounding error of a plane and its transform in the image before corrections, over its peak; measured at the worst
 * pixel of images of noise.
 */
const ROUNDING = { float32: 6e-8, float64: 1e-16 } satisfies Record<WidePrecision, number>;
/** The best accuracy that some kernel meets at any size and range of w. */
const LEAST_ACCURACY = { float32: 3e-5, float64: 1e-7 } satisfies Record<WidePrecision, number>;
/** The least oversampling with kernels; beyond the most the grid grows faster than kernels shrink. */
const LEAST_OVERSAMPLING = 1.25;
const MOST_OVERSAMPLING = 2.6;
/** Small grids have few sizes: without this one 24 pixels had only a grid of 32 cells, which suits no narrow kernel. */
const SMALLEST_WIDE_SIDE = 64;

/** With a phase this small, relative to the accuracy, w needs no planes. */
const FLAT_PHASE = 0.1;

export function chooseKernels(options: ChoiceOptions): Choice {
  const { pixels, accuracy, precision, halfRange, rangeLambda, visibilities, costs } = options;
  const each = accuracy / Math.sqrt(3);
  const kept = kernelTable.filter(({ alias }) => alias <= each);
  const uvKernels = kept.filter(({ support }) => support <= MOST_SUPPORT[precision]);
  const isFlat = 2 * Math.PI * rangeLambda * halfRange < FLAT_PHASE * each;
  const wKernels = isFlat ? [undefined] : kept;
  let best: Choice | undefined;
  const mostCells = Math.max(MOST_OVERSAMPLING * pixels, SMALLEST_WIDE_SIDE);
  for (const gridCells of gridSides(LEAST_OVERSAMPLING * pixels, mostCells)) {
    const perPlane =
      costs.transform * transformCost(gridCells) * gridCells * (gridCells + pixels) +
      costs.pixel * pixels ** 2 +
      costs.planeCell * gridCells ** 2;
    for (const uv of bestFor(uvKernels, gridCells / pixels)) {
      for (const w of wKernels) {
        if (ROUNDING[precision] * uv.lift ** 2 * (w?.lift ?? 1) > accuracy / 3) continue;
        const spacingLambda = w ? 1 / (2 * halfRange * w.oversampling) : 1;
        const planes = w ? Math.ceil(rangeLambda / spacingLambda) + w.support : 1;
        const perVisibility = costs.visibility + costs.cell * uv.support ** 2 * (w?.support ?? 1);
        const cost = visibilities * perVisibility + planes * perPlane;
        if (!best || cost < best.cost) best = { uv, w, gridCells, planes, spacingLambda, cost };
      }
    }
  }
  return (
    best ??
    refuse(
      'image',
      `no kernel keeps an accuracy of ${accuracy} in ${precision}`,
      `ask for less: products.images.accuracy from ${LEAST_ACCURACY[precision]} is kept`,
    )
  );
}

/** The kernel of each support for the nearest oversampling at or below this one. */
function bestFor(kernels: readonly KernelRow[], oversampling: number): KernelRow[] {
  const bySupport = new Map<number, KernelRow>();
  for (const kernel of kernels) {
    const other = bySupport.get(kernel.support);
    if (kernel.oversampling > oversampling || (other && other.oversampling > kernel.oversampling)) continue;
    bySupport.set(kernel.support, kernel);
  }
  return [...bySupport.values()];
}
