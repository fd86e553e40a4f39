/** The choice of kernels for a direct image on a card: the cheapest that meet their tolerance. Pure. */
import type { CudaPath } from '../../../backend/cuda/cuda.js';
import type { SpectraType } from '../../../core/axes.js';
import type { GridBox } from './tables.js';
import { FOLDED_BOXES } from './folded-plan.js';
import type { ImagePlan } from '../../plan.js';
import type { FoldedPrecision } from './halves/split-halves.js';

/** `half`: right to 1e-3 of a channel's peak; `single`: to 1e-5. */
export type DirectPrecision = 'half' | 'single';

/** Rows and columns that any antenna touches in any channel, end exclusive. */
export interface Touched {
  readonly firstRow: number;
  readonly endRow: number;
  readonly firstColumn: number;
  readonly endColumn: number;
}

export function touchedCells({ corners, kernelSize }: Pick<ImagePlan, 'corners' | 'kernelSize'>): Touched {
  let [firstRow, endRow, firstColumn, endColumn] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < corners.length; at += 2) {
    firstRow = Math.min(firstRow, corners[at]);
    endRow = Math.max(endRow, corners[at] + kernelSize);
    firstColumn = Math.min(firstColumn, corners[at + 1]);
    endColumn = Math.max(endColumn, corners[at + 1] + kernelSize);
  }
  return { firstRow, endRow, firstColumn, endColumn };
}

/** Most stations whose fields fit in a block's shared memory beside the staging. */
const MOST_FOLDED_STATIONS = 1024;
/** Rounding to halves averages out over time steps: with shorter blocks the error would exceed 1e-3. */
export const LEAST_HALF_STEPS = 256;
/**
 * The factor at the horizon when the taper is taken out also multiplies the errors of halves: 320 for 5 × 5 kernels and
 * the whole sky, within 1e-3; 4800 for 7 × 7, where they reach 4e-3.
 */
const MOST_HALF_CORRECTION = 1000;
/** The same test for fitted kernels and the whole sky, before there is a plan. */
export const suitsHalves = (image: { readonly kernelSize: number; readonly samples: number }): boolean =>
  image.kernelSize <= 5 && image.samples >= LEAST_HALF_STEPS;

export type DirectChoice =
  /** On the tensor cores, a number as one half or as the sum of two. */
  | { readonly kind: FoldedPrecision; readonly box: GridBox; readonly description: string }
  /** Plain single precision, and why the tensor cores are not used. */
  | { readonly kind: 'float'; readonly why: string; readonly description: string };

export interface ChoosableBlocks {
  readonly type: SpectraType;
  readonly samples: number;
}

/** Decides what depends on the plan alone; the function it returns chooses for blocks of some kind and length. */
export function prepareDirectChoice(
  plan: Pick<ImagePlan, 'stations' | 'corners' | 'kernelSize' | 'correction' | 'shown'>,
  path: CudaPath,
  precision?: DirectPrecision,
): (blocks: ChoosableBlocks) => DirectChoice {
  const box = foldedBox(plan);
  const isShallow = plan.correction.every(
    (value, at) => plan.shown[at] === 0 || value <= MOST_HALF_CORRECTION,
  );
  const plain = (why: string): DirectChoice => ({
    kind: 'float',
    why,
    description: `single precision without tensor cores: ${why}`,
  });
  return ({ type, samples }) => {
    if (path !== 'hopper') return plain("folded grids need Hopper's tensor cores");
    if (type === 'cf32') return plain('float samples know no full scale');
    if (plan.stations > MOST_FOLDED_STATIONS) return plain(`${plan.stations} stations are more than 1024`);
    if (typeof box === 'number') return plain(`the aperture covers ${box} cells, more than 64`);
    const where = `on the tensor cores, in a box of ${box.size} cells`;
    const split = (why: string): DirectChoice => ({
      kind: 'split',
      box,
      description: `single precision ${where}: ${why}`,
    });
    if (precision === 'single') return split('as asked for');
    if (precision === undefined) {
      if (!isShallow)
        return split(`the taper of ${plan.kernelSize} × ${plan.kernelSize} kernels is too deep for halves`);
      if (samples < LEAST_HALF_STEPS) return split(`${samples} steps are too few for halves to average out`);
    }
    return { kind: 'half', box, description: `half precision ${where}` };
  };
}

/** The box around all touched cells, or how many cells that would be. */
function foldedBox(plan: Pick<ImagePlan, 'corners' | 'kernelSize'>): GridBox | number {
  const { firstRow, endRow, firstColumn, endColumn } = touchedCells(plan);
  const cells = Math.max(endRow - firstRow, endColumn - firstColumn);
  const size = FOLDED_BOXES.find((box) => box >= cells);
  if (size === undefined) return cells;
  // Its middle as near as possible to the middle of the touched cells.
  return {
    firstRow: Math.floor((firstRow + endRow - size) / 2),
    firstColumn: Math.floor((firstColumn + endColumn - size) / 2),
    size,
  };
}
