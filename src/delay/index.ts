/** Delays: how they are applied, from geometry to pieces, and the user's file. */
export { delayModels, type DelayModel, type DelayModels, type DelayPiece } from './models.js';
export {
  spectrumDelays,
  trackedDelays,
  TURN_NUMBERS,
  type RunDelays,
  type SpectrumDelays,
} from './spectra.js';
export { geometricDelaysS, planTracking, sampleClock, trackingDelayModel } from './tracking.js';
export { fixedDelaysS, loadPieces, parseDelayFile, readDelayFile, type DelayFile } from './file.js';
export { NoiseSolver, type NoiseChannel, type NoiseSolution } from './noise.js';
