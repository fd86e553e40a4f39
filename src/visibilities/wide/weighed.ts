/** Rows with their imaging weights, and the rows left out. */
import { refuse } from '../../core/errors.js';
import { DEGREES_PER_RADIAN, twoDigits } from '../../core/units.js';
import { prepareWeights, type BeyondCells, type WidePlan, type WideRows } from '../../image/index.js';
import type { WideSettings } from './settings.js';

interface Weighed {
  /** The same blocks with their imaging weights. */
  readonly blocks: () => AsyncIterable<WideRows>;
  /** Weights other than natural leave out baselines too long for the pixels. */
  readonly beyond: BeyondCells;
}

export async function prepareWeighed(
  plan: WidePlan,
  { weighting }: Pick<WideSettings, 'weighting'>,
  blocks: () => AsyncIterable<WideRows>,
): Promise<Weighed> {
  const weigher = prepareWeights(plan, weighting);
  if (weighting.kind !== 'natural') for await (const rows of blocks()) weigher.count(rows);
  return {
    beyond: weigher.beyond,
    blocks: async function* () {
      for await (const rows of blocks()) yield { ...rows, weights: weigher.weigh(rows) };
    },
  };
}

export const noneBeyond = (): BeyondCells => ({ visibilities: 0, of: 0, longestLambda: 0 });

export function addBeyond(sum: BeyondCells, one: BeyondCells): void {
  sum.visibilities += one.visibilities;
  sum.of += one.of;
  sum.longestLambda = Math.max(sum.longestLambda, one.longestLambda);
}

export const isAllBeyond = ({ visibilities, of }: BeyondCells): boolean => of > 0 && visibilities === of;

/** With pixels no wider than this, every visibility is on the grid. */
export const holdingCellDeg = ({ longestLambda }: BeyondCells): number =>
  DEGREES_PER_RADIAN / (2 * longestLambda);

/** Weights that leave no data give no image. */
export function refuseWeightless(beyond: BeyondCells): never {
  return isAllBeyond(beyond)
    ? refuse(
        'image',
        'no data are left: every baseline is too long for pixels so coarse',
        `take a products.images.cell of ${twoDigits(holdingCellDeg(beyond))} degrees or less, or natural weights`,
      )
    : refuse('image', 'no data are left: every weight is 0', 'take a narrower products.images.taper');
}
