/** Entry point of `visibilities`: integrations from files: calibrated, imaged, averaged, converted. */
export { calibrateIntegration } from './calibrate.js';
export { combineBands } from './combine-bands.js';
export {
  type CalibrationSummary,
  type FullPolarisation,
  gainsFileOf,
  type GainSettings,
  type GainsPlan,
  isMisplaced,
  misfitWords,
  type OutsideAt,
  pathsOfGains,
  planGains,
  solveGains,
  type SolvedGains,
  type SolvedTime,
  solvePlanned,
  type Solving,
  writeSolvedGains,
} from '../products/solve/index.js';
export { convertFile, copyRecording, type Converted } from './convert.js';
export {
  countedPartOf,
  partOf,
  type FromVisibilities,
  type ItemOfVisibilities,
  type MakingFromVisibilities,
  type PlannedFromVisibilities,
} from './from-visibilities.js';
export { gainsOver, type GainsOver } from './gains-over.js';
export { fringesOf, methodWords, type ImagedSeries, type ImagedSky } from './products/images.js';
export type { WrittenGains } from './products/gains.js';
export type { AppliedGains, WrittenVisibilities } from './products/visibilities.js';
export {
  runVisibilities,
  withVisibilities,
  type MadeFromVisibilities,
  type VisibilitiesOutcome,
  type VisibilitiesPlan,
  type VisibilitiesSettings,
} from './run.js';
export { type Rework, reworkVisibilities } from './rework.js';
export { correctedWide } from './wide/brightness.js';
export { loneHandOf } from './wide/choose-products.js';
export { type WideSkyImage, imageWide } from './wide/image.js';
export {
  type WidePaths,
  type WideProductOptions,
  picturePlane,
  standingChannel,
  writeWide,
} from './wide/products.js';
export { imageWideSeries } from './wide/series.js';
export {
  type WideFieldOptions,
  type WideSettings,
  choosePixels,
  longestWavelengths,
} from './wide/settings.js';
export type { WideRoad } from './wide/survey.js';
export { seesWholeSky, usualField } from './wide/usual-field.js';
export { holdingCellDeg } from './wide/weighed.js';
