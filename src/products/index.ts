/** Entry point of `products`: what an observation can request. */
export {
  isProduct,
  productFields,
  productName,
  productNames,
  type Product,
  type ProductName,
} from './registry.js';
export { images, plainWeights } from './images.js';
export { visibilities } from './visibilities.js';
export { modelSources, solvingFields } from './solving.js';
export { handingOver } from './product.js';
export type {
  LiveMethod,
  LiveRecording,
  MadeProduct,
  Making,
  Observed,
  PlannedProduct,
  RealTimeCost,
  ProductItem,
  ProductListener,
  ProductPart,
  SeenBeams,
} from './product.js';
export { FilesByTime, type FileEvent } from './recorders/files.js';
export type { Recorder } from './recorders/recorder.js';
export { planProduct } from './runtimes.js';
export type { VisibilityFacts } from './making/visibilities.js';
export type { SpectraFacts } from './making/spectra.js';
export type { BeamFacts } from './making/beams.js';
export type { ImageFacts } from './making/images.js';
export type { GainFacts } from './making/gains.js';
export { beamGrid, beamPath, besideBeams } from './beam-paths.js';
export { dividingBeam, lookOf, refuseFollowingAll, seriesPaths } from './looks.js';
