/** Wide images: any centre, any field, with the w term to a stated accuracy; and the reverse. */
import type { Backend } from '../../backend/backend.js';
import { prepareCpuWideImager } from './cpu/imager.js';
import { prepareCudaWideImager } from './cuda/imager.js';
import { prepareGriddedImager } from './gridded/imager.js';
import type { OnProgress } from '../../core/progress.js';
import type { WideImager } from './imager.js';
import { isSoonSummed, type WidePlan } from './plan.js';
import { prepareWideReference } from './reference.js';

export { planWide, DEFAULT_ACCURACY } from './plan.js';
export type { WideBounds, WideOptions, WidePlan, WidePrecision, WideScale } from './plan.js';
export type { WideImage, WideImager, WideMethod } from './imager.js';
export { addRestored, fitBeam, sidelobesOf, type FittedBeam, type Sidelobes } from './beam.js';
export { cleanWide, noiseOf } from './clean.js';
export type { Cleaned, CleanOptions, CleanProgress, RowSource } from './clean.js';
export { joinRows } from './collect.js';
export { ownPowers, pairGeometry, stopFringes, stopFringesOf } from './stopped.js';
export type { HandTally, StopOptions, WideProduct } from './stopped.js';
export { prepareWeights, type BeyondCells, type WideWeigher, type WideWeighting } from './weights.js';
export { boundsOf, type WideGeometry, type WideRows } from './rows.js';

/**
 * Compiles and allocates an imager by u, v and w on a backend; close it afterwards. `reference` sums by the formula
 * where that is fast, and grids otherwise: the imager's `method` names the one used.
 */
export function prepareWideImager(
  plan: WidePlan,
  backend: Backend,
  options: { readonly onProgress?: OnProgress } = {},
): Promise<WideImager> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(
        isSoonSummed(plan) ? prepareWideReference(plan) : prepareGriddedImager(plan, options),
      );
    case 'cpu':
      return Promise.resolve(prepareCpuWideImager(plan, backend));
    case 'cuda':
      return prepareCudaWideImager(plan, backend);
  }
}
