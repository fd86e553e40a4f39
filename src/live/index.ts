/** Entry point of `live`: observations of packets, captures and streams. */
export {
  runLive,
  steeringOf,
  type BegunRun,
  type LiveOutcome,
  type LivePage,
  type LiveRunSettings,
  type OpenedPage,
  type OpenPageSettings,
} from './run.js';
export { isFifo, openLiveInput, telescopeOf } from './input.js';
export type { BeforeListening, InputSettings, OpenedInput, Say } from './opened-input.js';
export { listenSettings, parseEpoch, surveyedLine } from './packets.js';
export { leftOutFix, leftOutWords } from './left-out-frames.js';
export { planLive, type LivePlan } from './plan.js';
export { resolveLive } from './resolve.js';
