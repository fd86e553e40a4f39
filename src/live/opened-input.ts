/** Where the samples of a live run come from, and what they are once they come. */
import type { Closable } from '../core/closing.js';
import type { Instant } from '../core/instant.js';
import type { Line } from '../messages/index.js';
import type { Observation } from '../observation/index.js';
import type { LossControl } from './losses.js';
import type { LiveInput } from './night.js';
import type { TimedNoise } from './noise-source.js';
import type { ReadyToListen, ReceiveAccount } from '../receive/index.js';
import type { Telescope } from '../telescope/telescope.js';

export interface InputSettings {
  readonly observation: Observation;
  /** The one that was named. */
  readonly telescope?: Telescope;
  /** Nothing is waited for longer. */
  readonly forS?: number;
  /** Of a block of packets. */
  readonly blockS?: number;
  readonly say: Say;
  readonly beforeListening?: BeforeListening;
}

export interface OpenedInput extends LiveInput, Closable {
  readonly description: string;
  readonly telescope?: Telescope;
  /** Real time: what is late is old. */
  readonly isLive: boolean;
  /** The account of every packet, where there are packets. */
  packets?(): ReceiveAccount;
  /** The account of a stream of frames, once it is over. */
  stream?(): StreamAccount;
  /** Delays and phases of a receiver's channels, solved while its noise source was on. */
  noise?(): readonly TimedNoise[];
  /** Where packets wait. */
  readonly ring?: { readonly blocks: number; readonly samplesPerBlock: number };
  /** When a tick was, of senders whose clocks were set anew while their time was unknown; from which on it holds. */
  readonly tellEpoch?: (tick: bigint, time: Instant) => { readonly at: Instant; readonly tick: bigint };
  /** Where packets come from a network. */
  readonly listening?: { readonly port: number; readonly group?: string; readonly interface?: string };
  /** Of a simulated sky: what of it is lost. */
  readonly losses?: LossControl;
  /** Files that were read. */
  readonly paths?: readonly string[];
}

/** For people, and for machines. */
export interface StreamAccount {
  readonly lines: readonly string[];
  readonly facts: object;
}

export type Say = (line: Line) => void;
/** What takes long is done before a socket is opened. */
type BeforeListening = (ready: ReadyToListen, telescope: Telescope | undefined) => Promise<void>;
