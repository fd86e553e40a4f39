/** Image: calibrated sky out, from visibilities or directly from voltages (EPIC). */
import type { Backend } from '../backend/backend.js';
import { nothingToClose } from '../core/closing.js';
import { prepareCpuVisibilityImager } from './flat/cpu/prepare.js';
import { prepareCpuDirectImager } from './direct/cpu/prepare.js';
import { prepareCudaVisibilityImager } from './flat/cuda/prepare.js';
import { prepareCudaDirectImager } from './direct/cuda/prepare.js';
import type { DirectImagerOptions } from './direct/autos.js';
import type { DirectImager } from './direct/direct.js';
import { imageVisibilities } from './direct/gridded.js';
import type { ImagePlan } from './plan.js';
import { prepareDirectReference } from './direct/reference.js';
import type { VisibilityImager } from './flat/imager.js';

export { checkFits, fittingPixels, neededCells } from './aperture.js';
export {
  alongImage,
  chooseCentre,
  groundAxes,
  isZenith,
  planeNormal,
  skyReach,
  tiltOf,
  type ImageCentre,
  type Tilt,
} from './array-plane.js';
export { planGeometry, planImage, pixelCosine } from './plan.js';
export type { ImageField, ImageGeometry, ImageKernel, ImageOptions, ImagePlan, KernelSize } from './plan.js';
export type { DirectImagerOptions } from './direct/autos.js';
export type { DirectImage, DirectImager } from './direct/direct.js';
export { imageVisibilities, type VisibilityImage, type VisibilityImageOptions } from './direct/gridded.js';
export type { VisibilityImager } from './flat/imager.js';
export { LEAST_PIXELS, MOST_PIXELS } from './aperture.js';
export { MARGIN } from './kernels.js';
export type { StationPatterns } from './station-patterns.js';
export {
  boundFrequencies,
  directImageError,
  directErrorEstimate,
  HIGH_DEG,
  type DirectImageError,
} from './direct/holds.js';
export {
  averageChannels,
  loneHand,
  measureSource,
  placeOf,
  planeOf,
  productAlone,
  stokesI,
} from './planes.js';
export type { ImageShape, MeasuredSource } from './planes.js';
export { stationBeam } from './station-beam.js';
export * from './wide/index.js';

/** Compiles and allocates an imager of spectra on a backend; close it afterwards. */
export function prepareDirectImager(
  plan: ImagePlan,
  backend: Backend,
  options: DirectImagerOptions = {},
): Promise<DirectImager> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(prepareDirectReference(plan, options));
    case 'cpu':
      return Promise.resolve(prepareCpuDirectImager(plan, backend, options));
    case 'cuda':
      return prepareCudaDirectImager(plan, backend, options);
  }
}

/** Compiles and allocates an imager of visibilities on a backend; close it afterwards. */
export function prepareVisibilityImager(plan: ImagePlan, backend: Backend): Promise<VisibilityImager> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve({
        plan,
        image: (integrations, options, into) =>
          Promise.resolve(imageVisibilities(plan, integrations, options, into)),
        close: nothingToClose,
      });
    case 'cpu':
      return Promise.resolve(prepareCpuVisibilityImager(plan, backend));
    case 'cuda':
      return prepareCudaVisibilityImager(plan, backend);
  }
}
export { usedBand, type UsedBand } from './used-band.js';
