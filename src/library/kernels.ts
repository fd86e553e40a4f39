/**
 * Corella's kernels, each by itself: planned, prepared on a backend, run (`import … from 'corella/kernels'`). A whole chain
 * is an observation (`corella`); its links are in `corella/stages`.
 */
export * from '../core/axes.js';
export type * from '../core/blocks.js';
export type * from '../core/sources.js';
export type { SpectraGap, VoltageGap } from '../core/gaps.js';
export { openBackend, describeDevices } from '../backend/select.js';
export type { Backend } from '../backend/backend.js';
export {
  planBeams,
  prepareBeamformer,
  type Beamformer,
  type BeamOptions,
  type BeamPlan,
} from '../beamform/index.js';
export * from '../channelise/index.js';
export * from '../correlate/index.js';
export * from '../calibrate/index.js';
export * from '../image/index.js';
export * from '../delay/index.js';
