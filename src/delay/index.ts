/** Delays: how they are applied, from geometry to pieces, and what the user gives in a file. */
export {
  channelPhaseRad,
  splitDelay,
  type DelayPiece,
  type SplitDelay,
  type ZeroFrequency,
} from './piece.js';
export { delayModels, type DelayLaw, type DelayModels } from './models.js';
export {
  spectrumDelays,
  TURN_NUMBERS,
  type RunDelays,
  type SpectrumDelayOptions,
  type SpectrumDelays,
} from './spectra.js';
export {
  geometricDelaysS,
  planTracking,
  sampleClock,
  trackingLaw,
  type TickClock,
  type Tracking,
  type TrackingOptions,
} from './tracking.js';
export { loadPieces, parseDelayFile, readDelayFile, type DelayFile, type TimedPiece } from './file.js';
