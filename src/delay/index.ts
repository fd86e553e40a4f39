/** Delays: how they are applied, from geometry to pieces, and the user's file. */
export { splitDelay, type DelayPiece, type SplitDelay } from './piece.js';
export { delayModels, type DelayModel, type DelayModels } from './models.js';
export {
  spectrumDelays,
  trackedDelays,
  TURN_NUMBERS,
  type RunDelays,
  type SpectrumDelayOptions,
  type SpectrumDelays,
  type TrackedDelay,
} from './spectra.js';
export {
  geometricDelaysS,
  planTracking,
  sampleClock,
  trackingDelayModel,
  type TickClock,
  type Tracking,
  type TrackingOptions,
} from './tracking.js';
export {
  fixedDelaysS,
  loadPieces,
  parseDelayFile,
  readDelayFile,
  type DelayFile,
  type TimedPiece,
} from './file.js';
export { NoiseSolver, type NoiseChannel, type NoiseSolution } from './noise.js';
