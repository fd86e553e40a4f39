/** Blocks as they arrive, wherever the packets come from: a capture, a socket of Node's, the native ring. */
import type { Closable } from '../core/closing.js';
import type { Surveyed } from './listen.js';
import type { RingPlan } from './plan.js';
import type { ArrivedBlock, RingAccount } from './ring.js';

export interface SocketFacts {
  readonly port: number;
  /** What the kernel gave, which may be less than was asked for. */
  readonly receiveBufferBytes: number;
  /** Datagrams that found the socket's buffer full; undefined where the system does not say. */
  readonly kernelDrops: number | undefined;
  /** Processor time of the receive thread, where it has one. */
  readonly threadS?: number;
}

/** How full the ring was at its fullest: free blocks are neither open, waiting nor with the consumer. */
export interface RingFill {
  readonly blocks: number;
  readonly leastFree: number;
}

export interface Arrivals extends Closable {
  readonly plan: RingPlan;
  /** For people: which ring, fed by what. */
  readonly description: string;
  /** Waits for the next block; undefined once there will be none. */
  next(): Promise<ArrivedBlock | undefined>;
  /** No more packets: what is begun is handed on, then the blocks end. */
  stop(): void;
  account(): RingAccount;
  socket?(): SocketFacts;
  /** What came to the socket before, where it was surveyed. */
  readonly surveyed?: Surveyed;
  /** Of what comes by itself and does not wait. */
  fill?(): RingFill;
}

/** One waiter, woken by whatever changed. */
export class Bell {
  private wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.wake?.();
    this.wake = undefined;
  };

  /** Resolves at the next ring. */
  heard(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.wake;
      this.wake = () => {
        before?.();
        resolve();
      };
    });
  }
}

/** Of a socket whose survey ends now; `more` were never read. */
export const surveyedBy = (
  { surveyed, firstNs }: { readonly surveyed: number; readonly firstNs: bigint | undefined },
  more = 0,
): Surveyed => ({
  packets: surveyed + more,
  seconds: firstNs === undefined ? 0 : Number(process.hrtime.bigint() - firstNs) / 1e9,
});
