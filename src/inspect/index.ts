/** Entry point of `inspect`: contents of a file or a folder, and comparison of the data of two. */
export { type CaptureLook, type StreamLook, lookAtCapture, tickSpan } from './capture.js';
export { type Comparison, compareFiles } from './compare/compare-files.js';
export type { Difference } from './compare/tally.js';
export {
  fringeCollector,
  type FringeCollector,
  type FringeSeries,
  MOST_STATIONS,
} from './fringes/collect.js';
export { type Fringes, fringesOf } from './fringes/numbers.js';
export { fringesOfRecording } from './fringes/of-recording.js';
export { type ImageFacts, imagePicture, lookAtImage } from './fits-image.js';
export { type GainLook, type GainTimes, firstWithGains, lookAtGains, timesOf } from './gains.js';
export { type FileDescription, describeFile } from './inspect.js';
export { antennaPicture } from './pictures/antenna.js';
export { baselineCollector, pairNamed } from './pictures/baseline.js';
export { type DynamicSpectrum, dynamicSpectrum, filterbankPicture } from './pictures/filterbank.js';
export { responsePicture } from './pictures/filter-response.js';
export { flagMap } from './pictures/flags.js';
export { fringePicture, NOT_FITTED, offset } from './pictures/fringes.js';
export { gainPicture } from './pictures/gain.js';
export { lossMap } from './pictures/losses.js';
export { uvCoverage } from './pictures/uv.js';
export { visibilityPicture, withPanel } from './pictures/visibility.js';
export { recordingPicture } from './pictures/voltage.js';
export type { SenderTally } from './stream-account.js';
export { type VisibilityLook, lookAtVisibilities } from './visibilities.js';
export { type FirstValue, type Look, lookAt } from './voltages.js';
export { inputSpectra, meanSpectrum } from './waterfall.js';
export { filesOfFolder } from './folder.js';
