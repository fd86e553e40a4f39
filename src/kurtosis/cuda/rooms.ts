/** Memory for the sums of one block: on the card, and locked on the host, where they come down by themselves. */
import {
  offsetBy,
  type CudaEvent,
  type CudaSession,
  type DeviceMemory,
  type DevicePointer,
  type PinnedMemory,
  type Stream,
} from '../../backend/cuda/session.js';
import type { Closers } from '../../core/closing.js';
import { areSameEdges } from '../../core/windows.js';
import type { Fencing } from '../fences.js';
import type { Powers } from '../flagger.js';
import type { KurtosisPlan } from '../plan.js';
import { powersLayout, type PowersLayout } from './plan.js';

/** Where a block's windows and their fences lie on the card. */
export interface PlacedFencing {
  readonly edges: DevicePointer;
  readonly heads: DevicePointer;
  readonly tables: DevicePointer;
  readonly places: DevicePointer;
}

export class Room {
  readonly landed: CudaEvent;
  private onCard: DeviceMemory | undefined;
  private onHost: PinnedMemory | undefined;
  private made: { readonly layout: PowersLayout; readonly powers: Powers } | undefined;
  private tables: DeviceMemory | undefined;
  private tablesOnHost: PinnedMemory | undefined;
  private sent:
    | { readonly edges: Int32Array; readonly fencing: Fencing | undefined; readonly placed: PlacedFencing }
    | undefined;

  constructor(
    private readonly plan: KurtosisPlan,
    private readonly session: CudaSession,
    private readonly closers: Closers,
  ) {
    this.landed = closers.keep(session.createEvent());
  }

  /** For blocks of so many windows at the most. */
  reserve(windows: number): void {
    const { bytes } = powersLayout(this.plan, windows);
    if (this.onHost && this.onHost.sizeBytes >= bytes) return;
    this.made = undefined;
    this.onCard = this.closers.keep(this.session.allocate('sums of powers', bytes));
    this.onHost = this.closers.keep(this.session.allocatePinned('sums of powers', bytes));
  }

  /** Of a block of so many windows, which may be fewer than there is room for. */
  layoutFor(windows: number): PowersLayout {
    this.reserve(windows);
    if (!this.onHost) throw new Error('nothing was reserved');
    if (this.made?.layout.windows !== windows) {
      const layout = powersLayout(this.plan, windows);
      this.made = { layout, powers: viewsOf(layout, this.onHost.buffer) };
    }
    return this.made.layout;
  }

  pointer(offsetBytes = 0): DevicePointer {
    if (!this.onCard) throw new Error('no block was begun');
    return offsetBy(this.onCard.pointer, offsetBytes);
  }

  /** On their way down, behind everything in the stream. */
  bringDown(what: 'sums' | 'all', stream: Stream): void {
    if (!this.onHost || !this.made) throw new Error('no block was begun');
    const { layout } = this.made;
    const bytes = what === 'sums' ? layout.sumsBytes : layout.bytes;
    this.session.call('cuMemcpyDtoHAsync', this.onHost.pointer, this.pointer(), bytes, stream.handle);
    this.landed.record(stream);
  }

  /** What came down; valid until the room is used again. */
  powers(screened: boolean): Powers {
    if (!this.made) throw new Error('no block was begun');
    const { sums, screened: seen } = this.made.powers;
    return screened ? { sums, screened: seen } : { sums };
  }

  /** Windows and fences go up where they are not those of the room's last block. Nobody reads the room's memory any more. */
  send(edges: Int32Array, fencing: Fencing | undefined, stream: Stream): PlacedFencing {
    if (this.sent && this.sent.fencing === fencing && areSameEdges(this.sent.edges, edges))
      return this.sent.placed;
    const { heads, tables, places } = fencing ?? NOTHING;
    const parts = [heads, tables, places, edges];
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (!this.tables || !this.tablesOnHost || this.tables.sizeBytes < bytes) {
      // Blocks of other lengths have a few fences more.
      this.tables = this.closers.keep(this.session.allocate('fences', 2 * bytes));
      this.tablesOnHost = this.closers.keep(this.session.allocatePinned('fences', 2 * bytes));
    }
    const to = new Uint8Array(this.tablesOnHost.buffer);
    const { pointer } = this.tables;
    let at = 0;
    const [onCardHeads, onCardTables, onCardPlaces, onCardEdges] = parts.map((part) => {
      to.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
      at += part.byteLength;
      return offsetBy(pointer, at - part.byteLength);
    });
    this.session.call('cuMemcpyHtoDAsync', pointer, this.tablesOnHost.pointer, bytes, stream.handle);
    const placed = { heads: onCardHeads, tables: onCardTables, places: onCardPlaces, edges: onCardEdges };
    this.sent = { edges: edges.slice(), fencing, placed };
    return placed;
  }
}

const NOTHING = { heads: new Float64Array(0), tables: new Float64Array(0), places: new Int32Array(0) };

const viewsOf = (
  { cells, groups, totals, marks, groupMarks }: PowersLayout,
  buffer: ArrayBuffer,
): Powers => ({
  sums: new Float64Array(buffer, 0, 2 * cells),
  screened: {
    totals: new Float64Array(buffer, totals, groups),
    marks: new Uint8Array(buffer, marks, cells),
    groupMarks: new Uint8Array(buffer, groupMarks, groups),
  },
});
