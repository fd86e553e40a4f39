/** Entry point of `send`: packets of a recording or of a simulated sky. */
export { channelisedSource } from './channelised.js';
export { type Destination, toCapture, toSocket } from './destinations.js';
export { type FaultSettings, type SourceLoss, noFaults } from './faults.js';
export { type PackedSent, isFaultless, sendPacked } from './packed.js';
export { now, serveKraken } from './kraken.js';
export { type ArrivedSamples, type Sent, sendPackets } from './send.js';
export { type FirstTick, firstTickOf, streamFor } from './stream-for.js';
export { openTruth } from './truth.js';
export { widenedSource } from './widened.js';
