/** What says where the samples of a night come from, and what they are once they come. */
import type { Closable } from '../../core/closing.js';
import type { Instant } from '../../core/instant.js';
import type { StreamType } from '../../formats/index.js';
import type { LiveInput } from '../../pipeline/live/night.js';
import type { ReadyToListen, ReceiveAccount } from '../../receive/index.js';
import type { Telescope } from '../../telescope/telescope.js';

export interface InputOptions {
  readonly from?: string;
  readonly listen?: string;
  readonly interface?: string;
  readonly format?: string;
  readonly epoch?: string;
  readonly meta?: string;
  readonly sampleType?: StreamType;
  readonly inputs?: number;
  readonly polarisations?: number;
  readonly rate?: number;
  readonly frequency?: number;
  readonly start?: string;
  readonly telescope?: string;
  /** Nothing is waited for longer. */
  readonly for?: number;
  /** Of a block of packets. */
  readonly blockS?: number;
}

export interface OpenedInput extends LiveInput, Closable {
  readonly description: string;
  readonly telescope?: Telescope;
  /** Real time: what is late is old. */
  readonly isLive: boolean;
  /** The account of every packet, where there are packets. */
  packets?(): ReceiveAccount;
  /** Where packets wait. */
  readonly ring?: { readonly blocks: number; readonly samplesPerBlock: number };
  /** When a tick was, of senders whose clocks were set anew while nobody knew; from which on it holds. */
  readonly tellEpoch?: (tick: bigint, time: Instant) => { readonly at: Instant; readonly tick: bigint };
  /** Where packets come from a network. */
  readonly listening?: { readonly port: number; readonly group?: string; readonly interface?: string };
}

export type Say = (line: string) => void;
/** What takes long is done before a socket is opened. */
export type BeforeListening = (ready: ReadyToListen, telescope: Telescope | undefined) => Promise<void>;
