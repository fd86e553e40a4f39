/** Entry point of `compose`: the order of the stages, and the only code that knows it. */
export {
  type BeamItem,
  type BeamPowers,
  type BeamSamples,
  type BeamSet,
  type BeamQuality,
  type BeamsProduct,
  beamEfficiency,
  beamPhaseLoss,
  beamPieces,
  prepareBeams,
  secondsPerBeam,
} from './beams.js';
export {
  type ComposedProduct,
  type FromSpectra,
  composeShare,
  finishing,
  observe,
  unionOf,
} from './compose.js';
export {
  type CorrelationSettings,
  correlateSpectra,
  correlateVoltages,
  prepareSpectraCorrelation,
  prepareVoltageCorrelation,
} from './correlate.js';
export { directGains, prepareDirectProduct } from './direct.js';
export {
  type Front,
  type FrontSpectra,
  type Gain,
  endOfFront,
  gainOfFront,
  phaseLossOf,
  spectraOfFront,
  spectraOfSource,
} from './front.js';
export { imageMiddles } from './image.js';
export {
  type DirectImagesSetup,
  checkDirectImages,
  imageDirectly,
  imageIntegration,
  imagesDirectly,
  methodLine,
  methodUsed,
  type MethodUsed,
} from './image.js';
export { timeRangesOf } from './image.js';
export { type SpectraRange, checkRange } from './range.js';
