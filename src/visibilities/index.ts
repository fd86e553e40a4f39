/** Entry point of `visibilities`: integrations from files are calibrated, imaged, averaged, converted. */
export { calibrateIntegration } from './calibrate.js';
export { combineBands } from './combine-bands.js';
export type { SolvedGains } from '../products/solve/index.js';
export { convertFile, copyRecording, type Converted } from './convert.js';
export { type ItemOfVisibilities } from './from-visibilities.js';
export type { WrittenGains } from './products/gains.js';
export {
  runVisibilities,
  checkPlannedVisibilities,
  withVisibilities,
  type VisibilitiesPlan,
  type VisibilitiesSettings,
} from './run.js';
export { type WideSkyImage, imageWide } from './wide/image.js';
export { type WidePaths, type WideProductOptions, writeWide } from './wide/products.js';
export { imageWideSeries } from './wide/series.js';
export { type WideFieldOptions, type WideSettings } from './wide/settings.js';
export type { WideSetup } from './wide/survey.js';
export {
  countText,
  lackingIn,
  madeFacts,
  madeLines,
  reportOfOne,
  sourceFacts,
  sourceLines,
} from './report/made.js';
