/** The door of receiving. */
export { openArrivals, receivePackets } from './receive.js';
export type { Arrivals, RingFill, SocketFacts } from './arrivals.js';
export { openNativeSender, type NativeSender, type NativeSenderOptions } from './native/sender.js';
export {
  canPace,
  openPacedSender,
  packetsOfTickZero,
  type PacedSender,
  type PacedSenderOptions,
  type PackedSlots,
} from './native/pacer.js';
export type {
  PacketOrigin,
  ReadyToListen,
  ReceiveAccount,
  ReceiveEvent,
  ReceiveSettings,
  Reception,
  SenderAccount,
} from './receive.js';
export { captureDatagrams, type CaptureOrigin, type LeftOutFrames } from './from-capture.js';
export { silentSource } from './silent-source.js';
export { openSurveySocket, type ListenOrigin, type SurveySocket } from './survey-socket.js';
export { planListening, type ListenSettings, type Surveyed } from './listen.js';
export type {
  ArrivalFacts,
  LiveCells,
  LiveSource,
  LiveSpectra,
  LiveSpectraSource,
  LiveVoltages,
  LiveVoltageSource,
} from './live-source.js';
export type { EpochSetting } from './epoch.js';
export type { Band, SpectraBand, VoltageBand } from './band.js';
export { bandOf } from './band.js';
export { hasRivals } from './rivals.js';
export { planRing, type RingOptions, type RingPlan } from './plan.js';
export { outcomes, laneOutcomes, type LaneOutcome, type Outcome } from './ring.js';
export { stepsOf } from './turn.js';
export { networkFacts, type InterfaceFacts, type NetworkFacts } from './network/facts.js';
export { needsOfStream, refuseAny, type NetworkNeeds } from './network/needs.js';
export { judge, type TelescopeVerdict } from './network/report.js';
export { telescopeRates, type TelescopeRate } from './network/telescopes.js';
