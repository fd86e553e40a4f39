/** Entry point of `live`: observations of packets, captures and streams. */
export { checkLive, runLive, steeringOf } from './run.js';
export type {
  LiveOutcome,
  LivePage,
  LiveRunSettings,
  OpenPageSettings,
  WrittenIntegrations,
} from './run-settings.js';
export { isFifo, openLiveInput, telescopeOf } from './input.js';
export { isTartName, isStreamName } from './stream-address.js';
export type { LiveInput, LossControl, Losses, OpenedInput, Say } from './opened-input.js';
export { listenSettings, parseEpoch } from './packets.js';
export { watchLosses } from './loss-watch.js';
export { packetLines } from './packet-lines.js';
export { planLive, type LivePlan } from './plan.js';
export { resolveLive } from './resolve.js';
export { rehearse, runStreamEpoch } from './chain.js';
export { shownOf } from './context.js';
export type { ShownRun } from './shown.js';
export { LiveProducts } from './products.js';
export { LiveCheck } from './check.js';
export type { GainsEvents, LiveGains, Solved } from './gains.js';
export { methodLine } from '../compose/index.js';
export { type NightEvent, type NightSummary, runEpochs } from './run-epochs.js';
export { seenSource } from './seen.js';
export { openSimulated } from './simulated.js';
export {
  beamsChange,
  type By,
  type Change,
  type From,
  type MadeChange,
  Steering,
  withFlags,
} from './steering.js';
export type { LiveWatcher } from './run-epochs.js';
