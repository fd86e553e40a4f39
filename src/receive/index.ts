/** Public entry point of receiving. */
export { openArrivals, receivePackets } from './receive.js';
export type { Arrivals } from './arrivals.js';
export {
  canPace,
  openNativeSender,
  openPacedSender,
  packetsOfTickZero,
  type PacedSender,
  type PackedSlots,
} from './native/sender.js';
export type {
  PacketOrigin,
  ReadyToListen,
  ReceiveAccount,
  ReceiveEvent,
  ReceiveSettings,
  Reception,
} from './receive.js';
export {
  captureDatagrams,
  leftOutFix,
  leftOutWords,
  type CaptureOrigin,
  type LeftOutFrames,
} from './from-capture.js';
export { silentSource } from './silent-source.js';
export { openSurveySocket, type SurveySocket } from './survey-socket.js';
export { interfaceOf, planListening, type ListenSettings } from './listen.js';
export type { LiveCells, LiveSource, LiveSpectraSource } from './live-source.js';
export type { EpochSetting } from './epoch.js';
export type { Band } from './band.js';
export { bandOf } from './band.js';
export { hasDuplicateId } from './duplicate-id.js';
export { planRing } from './plan.js';
export { outcomes, senderOutcomes, type SenderOutcome, type Outcome } from './ring.js';
export { stepsOf } from './turn.js';
export { networkFacts, type NetworkFacts } from './network/facts.js';
export { checkNetwork, type NetworkCheck } from './network/report.js';
export { telescopeRates } from './network/telescopes.js';
