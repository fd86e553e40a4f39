/** Memory for the sums of one block: on the card, and locked on the host, where they are copied. */
import type {
  CudaEvent,
  CudaSession,
  DeviceMemory,
  DevicePointer,
  PinnedMemory,
  Stream,
} from '../../backend/cuda/session.js';
import type { Closers } from '../../core/closing.js';
import { areSameEdges } from '../../core/windows.js';
import type { KurtosisPlan } from '../plan.js';
import { sumsBytes } from './plan.js';

export class SumBuffers {
  readonly landed: CudaEvent;
  private memory: { readonly sums: Both; readonly edges: Both } | undefined;
  private sent: Int32Array | undefined;

  constructor(
    private readonly plan: KurtosisPlan,
    private readonly session: CudaSession,
    private readonly closers: Closers,
  ) {
    this.landed = closers.keep(session.createEvent());
  }

  /** For blocks of at most so many windows. */
  reserve(windows: number): void {
    const bytes = sumsBytes(this.plan, windows);
    if (this.memory && this.memory.sums.onHost.sizeBytes >= bytes) return;
    const { session, closers } = this;
    const both = (what: string, sizeBytes: number): Both => ({
      onCard: closers.keep(session.allocate(what, sizeBytes)),
      onHost: closers.keep(session.allocatePinned(what, sizeBytes)),
    });
    this.memory = { sums: both('sums of powers', bytes), edges: both('windows', 4 * (windows + 1)) };
    this.sent = undefined;
  }

  private get reserved(): { readonly sums: Both; readonly edges: Both } {
    if (!this.memory) throw new Error('nothing was reserved');
    return this.memory;
  }

  /** On the card; sums : [w][c][a][S1, S2]. */
  get sums(): DevicePointer {
    return this.reserved.sums.onCard.pointer;
  }

  /** Edges are sent where they differ from those of the last block. The memory must no longer be in use. */
  send(edges: Int32Array, stream: Stream): DevicePointer {
    const { onCard, onHost } = this.reserved.edges;
    if (this.sent && areSameEdges(this.sent, edges)) return onCard.pointer;
    new Int32Array(onHost.buffer).set(edges);
    this.session.call('cuMemcpyHtoDAsync', onCard.pointer, onHost.pointer, edges.byteLength, stream.handle);
    this.sent = edges.slice();
    return onCard.pointer;
  }

  /**
   * Copies the sums of so many windows to the host, after all work in the stream; valid until the memory is used again.
   */
  bringDown(windows: number, stream: Stream): Float64Array {
    const { onHost } = this.reserved.sums;
    const bytes = sumsBytes(this.plan, windows);
    this.session.call('cuMemcpyDtoHAsync', onHost.pointer, this.sums, bytes, stream.handle);
    this.landed.record(stream);
    return new Float64Array(onHost.buffer, 0, bytes / 8);
  }
}

interface Both {
  readonly onCard: DeviceMemory;
  readonly onHost: PinnedMemory;
}
