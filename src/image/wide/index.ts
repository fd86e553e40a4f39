/** Wide images: any centre, any field, the third dimension right to a stated accuracy; and the way back. */
import type { Backend } from '../../backend/backend.js';
import { prepareCpuWideImager } from './cpu/imager.js';
import { prepareCudaWideImager } from './cuda/imager.js';
import type { WideImager } from './imager.js';
import type { WidePlan } from './plan.js';
import { prepareWideReference } from './reference.js';

export { planWide, DEFAULT_ACCURACY } from './plan.js';
export type { WideBounds, WideOptions, WidePlan, WidePrecision, WideScale } from './plan.js';
export type { WideImage, WideImager } from './imager.js';
export { addRestored, fitBeam, type FittedBeam } from './beam.js';
export { cleanWide, noiseOf } from './clean.js';
export type { Cleaned, CleanOptions, CleanProgress, RowSource } from './clean.js';
export { joinRows } from './collect.js';
export { pairGeometry, stopFringes } from './stopped.js';
export type { HandTally, StopOptions, WideProduct } from './stopped.js';
export { prepareWeights, type WideWeigher, type WideWeighting } from './weights.js';
export { boundsOf, type WideGeometry, type WideRows } from './rows.js';

/** Compiles and allocates an imager by u, v and w on a backend; close it afterwards. */
export function prepareWideImager(plan: WidePlan, backend: Backend): Promise<WideImager> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(prepareWideReference(plan));
    case 'cpu':
      return Promise.resolve(prepareCpuWideImager(plan, backend));
    case 'cuda':
      return prepareCudaWideImager(plan, backend);
  }
}
