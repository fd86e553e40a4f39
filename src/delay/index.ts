/** Delays: how they are applied, from geometry to pieces, and what the user gives in a file. */
export {
  channelPhaseRad,
  splitDelay,
  type DelayPiece,
  type SplitDelay,
  type ZeroFrequency,
} from './piece.js';
export { delayModels, type DelayModels } from './models.js';
export {
  geometricDelaysS,
  planTracking,
  sampleClock,
  type TickClock,
  type Tracking,
  type TrackingOptions,
} from './tracking.js';
export { loadPieces, parseDelayFile, readDelayFile, type DelayFile, type TimedPiece } from './file.js';
