/** Image: calibrated sky out, from visibilities or directly from voltages (EPIC). */
import type { Backend } from '../backend/backend.js';
import { prepareCpuVisibilityImager } from './cpu-visibilities.js';
import { prepareCpuDirectImager } from './cpu.js';
import { prepareCudaVisibilityImager } from './cuda-visibilities.js';
import { prepareCudaDirectImager } from './cuda.js';
import type { DirectImager } from './direct.js';
import { imageVisibilities } from './gridded.js';
import type { ImagePlan } from './plan.js';
import { prepareDirectReference } from './reference.js';
import type { VisibilityImager } from './visibility-imager.js';

export { fittingPixels } from './aperture.js';
export { planImage, pixelCosine } from './plan.js';
export type { ImageField, ImageKernel, ImageOptions, ImagePlan, KernelSize } from './plan.js';
export type { DirectImage, DirectImager } from './direct.js';
export { prepareCudaDirectImager } from './cuda.js';
export type { CudaDirectImager, CudaDirectOptions, ExpectedBlocks } from './cuda.js';
export { prepareImageScaler, type DeviceSums, type ImageScaler } from './cuda-scale.js';
export { imageVisibilities, type VisibilityImage, type VisibilityImageOptions } from './gridded.js';
export type { VisibilityImager } from './visibility-imager.js';
export { MARGIN } from './kernels.js';
export { exactBrightness, type ExactOptions } from './exact.js';
export { averageChannels, measureSource, placeOf, planeOf, stokesI } from './planes.js';
export type { ImageShape, MeasuredSource } from './planes.js';
export { skyPicture, type DrawnSky, type NamedDirection, type SkyPicture } from './picture.js';
export { percentileStretch, type Stretch } from './raster.js';

export function prepareDirectImager(plan: ImagePlan, backend: Backend): Promise<DirectImager> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(prepareDirectReference(plan));
    case 'cpu':
      return Promise.resolve(prepareCpuDirectImager(plan, backend));
    case 'cuda':
      return Promise.resolve(prepareCudaDirectImager(plan, backend));
  }
}

export function prepareVisibilityImager(plan: ImagePlan, backend: Backend): Promise<VisibilityImager> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve({
        plan,
        image: (integrations, options) => Promise.resolve(imageVisibilities(plan, integrations, options)),
        close: () => undefined,
      });
    case 'cpu':
      return Promise.resolve(prepareCpuVisibilityImager(plan, backend));
    case 'cuda':
      return prepareCudaVisibilityImager(plan, backend);
  }
}
