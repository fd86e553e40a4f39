/** Blocks as they arrive, whatever the packet source: a capture, a Node socket or the native ring. */
import type { Closable } from '../core/closing.js';
import type { Surveyed } from './listen.js';
import type { RingPlan } from './plan.js';
import type { ArrivedBlock, RingAccount } from './ring.js';

export interface SocketFacts {
  readonly port: number;
  /** The size that the kernel granted, which may be less than requested. */
  readonly receiveBufferBytes: number;
  /** Datagrams dropped because the socket's buffer was full; undefined where the system does not report them. */
  readonly kernelDrops: number | undefined;
  /** Processor time of the receive thread, where it has one. */
  readonly threadS?: number;
}

/** The highest fill of the ring. Free blocks are not open, not waiting and not held by the consumer. */
export interface RingFill {
  readonly blocks: number;
  readonly leastFree: number;
}

export interface Arrivals extends Closable {
  readonly plan: RingPlan;
  /** For display: which ring, and what feeds it. */
  readonly description: string;
  /** Waits for the next block; undefined after the last one. */
  next(): Promise<ArrivedBlock | undefined>;
  /** Stops receiving: the open blocks are delivered, then the stream ends. */
  stop(): void;
  account(): RingAccount;
  socket?(): SocketFacts;
  /** Datagrams that arrived before receiving began, if the socket was surveyed. */
  readonly surveyed?: Surveyed;
  /** For live streams only: a capture waits for the consumer. */
  fill?(): RingFill;
  /** Whether the blocks that wait fill most of the ring; for live streams only. */
  isBehind?(): boolean;
}

/** Wakes one waiter on any change. */
export class Bell {
  private wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.wake?.();
    this.wake = undefined;
  };

  /** Resolves at the next ring. */
  rung(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.wake;
      this.wake = () => {
        before?.();
        resolve();
      };
    });
  }
}

/** The account of a socket whose survey ends now; `more` datagrams were never read. */
export const surveyedBy = (
  { surveyed, firstNs }: { readonly surveyed: number; readonly firstNs: bigint | undefined },
  more = 0,
): Surveyed => ({
  packets: surveyed + more,
  seconds: firstNs === undefined ? 0 : Number(process.hrtime.bigint() - firstNs) / 1e9,
});
