/** Memory for the sums of one block: on the card, and locked on the host, where they come down by themselves. */
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

export class Room {
  readonly landed: CudaEvent;
  private onCard: DeviceMemory | undefined;
  private onHost: PinnedMemory | undefined;
  private edges: DeviceMemory | undefined;
  private edgesOnHost: PinnedMemory | undefined;
  private sent: Int32Array | undefined;

  constructor(
    private readonly plan: KurtosisPlan,
    private readonly session: CudaSession,
    private readonly closers: Closers,
  ) {
    this.landed = closers.keep(session.createEvent());
  }

  /** For blocks of so many windows at the most. */
  reserve(windows: number): void {
    const bytes = sumsBytes(this.plan, windows);
    if (this.onHost && this.onHost.sizeBytes >= bytes) return;
    const { session, closers } = this;
    this.onCard = closers.keep(session.allocate('sums of powers', bytes));
    this.onHost = closers.keep(session.allocatePinned('sums of powers', bytes));
    this.edges = closers.keep(session.allocate('windows', 4 * (windows + 1)));
    this.edgesOnHost = closers.keep(session.allocatePinned('windows', 4 * (windows + 1)));
    this.sent = undefined;
  }

  /** On the card; sums : [w][c][a][S1, S2]. */
  get sums(): DevicePointer {
    if (!this.onCard) throw new Error('nothing was reserved');
    return this.onCard.pointer;
  }

  /** Edges go up where they are not those of the room's last block. Nobody reads the room's memory any more. */
  send(edges: Int32Array, stream: Stream): DevicePointer {
    if (!this.edges || !this.edgesOnHost) throw new Error('nothing was reserved');
    const { pointer } = this.edges;
    if (this.sent && areSameEdges(this.sent, edges)) return pointer;
    new Int32Array(this.edgesOnHost.buffer).set(edges);
    const { session, edgesOnHost } = this;
    session.call('cuMemcpyHtoDAsync', pointer, edgesOnHost.pointer, edges.byteLength, stream.handle);
    this.sent = edges.slice();
    return pointer;
  }

  /** Sums of so many windows on their way down, behind everything in the stream; valid until the room is used again. */
  bringDown(windows: number, stream: Stream): Float64Array {
    if (!this.onHost) throw new Error('nothing was reserved');
    const bytes = sumsBytes(this.plan, windows);
    this.session.call('cuMemcpyDtoHAsync', this.onHost.pointer, this.sums, bytes, stream.handle);
    this.landed.record(stream);
    return new Float64Array(this.onHost.buffer, 0, bytes / 8);
  }
}
