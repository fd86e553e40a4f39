/** An opened input of a live run, and its properties once samples arrive. */
import type { Closable } from '../core/closing.js';
import type { Instant } from '../core/instant.js';
import type { Line } from '../messages/index.js';
import type { Observation } from '../observation/index.js';
import type { Source } from '../core/sources.js';
import type { TimedNoise } from './noise-source.js';
import type { ReadyToListen, ReceiveAccount } from '../receive/index.js';
import type { Telescope } from '../telescope/telescope.js';

export interface InputSettings {
  readonly observation: Observation;
  /** The named telescope. */
  readonly telescope?: Telescope;
  /** Longest time to wait for anything. */
  readonly forS?: number;
  /** Length of a block of packets. */
  readonly blockS?: number;
  readonly say: Say;
  readonly beforeListening?: BeforeListening;
}

/** The input of a run: one source per stream epoch. */
export interface LiveInput {
  sessions(): AsyncIterable<Source> | Iterable<Source>;
  /** Stops receiving; data already received are processed. */
  stop(): void;
  /** Whether packets wait in such numbers that images have to be left out. */
  isBehind?(): boolean;
}

export interface OpenedInput extends LiveInput, Closable {
  readonly description: string;
  readonly telescope?: Telescope;
  /** Real time: data that arrive late are out of date. */
  readonly isLive: boolean;
  /** The account of every packet, for packet inputs. */
  packets?(): ReceiveAccount;
  /** The account of a stream of frames, once it is over. */
  stream?(): StreamAccount;
  /** Delays and phases of a receiver's channels, solved while its noise source was on. */
  noise?(): readonly TimedNoise[];
  /** The packet ring. */
  readonly ring?: { readonly blocks: number; readonly samplesPerBlock: number };
  /** Sets the time of a tick after senders' clocks were reset to an unknown time; returns when it takes effect. */
  readonly setEpoch?: (tick: bigint, time: Instant) => { readonly at: Instant; readonly tick: bigint };
  /** The network address, if packets come from a network. */
  readonly listening?: { readonly port: number; readonly group?: string; readonly interface?: string };
  /** The losses of a simulated sky. */
  readonly losses?: LossControl;
  /** Files that were read. */
  readonly paths?: readonly string[];
}

/** As text and as JSON. */
export interface StreamAccount {
  readonly lines: readonly string[];
  readonly facts: object;
}

export type Say = (line: Line) => void;
/** Slow preparations, done before a socket is opened. */
type BeforeListening = (ready: ReadyToListen, telescope: Telescope | undefined) => Promise<void>;

/** The losses of a simulated sky from now on. */
export interface Losses {
  /** From all boards. */
  readonly percent: number;
  /** Boards that send nothing. */
  readonly silent: readonly string[];
}

/** What can be changed while the sky is simulated. */
export interface LossControl {
  readonly boards: readonly string[];
  now(): Losses;
  set(losses: Losses): void;
}
