/**
 * Sums of powers on a card (kurtosis.cu). They are copied to locked memory while the card continues; the host decides,
 * and sends flagged ranges to the card.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type {
  CudaEvent,
  CudaSession,
  DeviceMemory,
  DevicePointer,
  PinnedMemory,
  Stream,
} from '../../backend/cuda/session.js';
import { cudaSpectra, type CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { preparing, type Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { PowerEngine } from '../flagger.js';
import { areSameEdges } from '../../core/windows.js';
import { windowEdges, type KurtosisPlan } from '../plan.js';
import {
  areWholeCells,
  cellsLaunch,
  EAGER_POLLS,
  planPowerSums,
  sumsBytes,
  sumsLaunch,
  zerosLaunch,
} from './plan.js';
import type { Kernel } from '../../backend/cuda/kernels.js';
import type { SpectraGap } from '../../core/gaps.js';
import { BOX_NUMBERS, packedBoxes } from '../decision.js';

/** Kernels count windows of inputs and channels by 32 bits. */
const MOST_CELLS = 2 ** 31;

interface Both {
  readonly onCard: DeviceMemory;
  readonly onHost: PinnedMemory;
}

/** Memory for the sums of one block: on the card, and locked on the host, where they are copied. */
class SumBuffers {
  readonly landed: CudaEvent;
  private memory: Readonly<Record<'sums' | 'edges', Both>> | undefined;
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

  private get reserved(): Readonly<Record<'sums' | 'edges', Both>> {
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
    onHost.view(Int32Array, edges.length).set(edges);
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
    return onHost.view(Float64Array, bytes / 8);
  }
}

/** With `blocks` that may be begun before the first is finished. */
export const cudaPowers = (plan: KurtosisPlan, backend: CudaBackend, blocks = 1): Promise<PowerEngine> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { beside, zero, download } = session.streams;
    const { sumPowers, sumCells, zeroBoxes } = await shop.prepare(planPowerSums(plan));
    const { channels, inputs } = plan;
    const rows = channels * inputs;
    /** Queues a block's sums into a buffer. */
    const queueSums = (block: CudaSpectraBlock, edges: Int32Array, buffers: SumBuffers): void => {
      const windows = edges.length - 1;
      if (windows * rows >= MOST_CELLS)
        refuse(
          'kurtosis',
          `a card cannot sum ${windows} windows of ${rows} rows at once`,
          'take shorter blocks',
        );
      buffers.reserve(windows);
      const onCard = buffers.send(edges, beside);
      const { powers, powersBuffer, pointer, pitchBytes } = block;
      block.reading(beside);
      if (powers && powersBuffer && areWholeCells(edges, block.samples, powers)) {
        const from = [powersBuffer.pointer, powers.channels.pointer, onCard, windows, powers.perWindow];
        sumCells.set([...from, channels, inputs, pointer, pitchBytes, buffers.sums]);
        sumCells.launch(cellsLaunch(plan, windows), beside);
      } else {
        sumPowers.set([pointer, pitchBytes, onCard, windows, rows, buffers.sums]);
        sumPowers.launch(sumsLaunch(plan, windows), beside);
      }
      block.doneReading(beside);
    };
    const computed = closers.keep(session.createEvent());
    const allBuffers = Array.from({ length: blocks }, () => new SumBuffers(plan, session, closers));
    const zeros = new Zeros(zeroBoxes, session, zero, closers);
    let begun = 0;
    /** The latest sums that were waited for. */
    let landed: Promise<void> = Promise.resolve();
    return {
      mostBegun: blocks,
      begin: (given, edges) => {
        // Everything is allocated with the first block: later ones of its capacity allocate nothing.
        if (begun === 0) {
          const windows = windowEdges(plan, given.shape.capacity).length - 1;
          for (const one of allBuffers) one.reserve(windows);
        }
        const buffers = allBuffers[begun++ % blocks];
        queueSums(cudaSpectra('kurtosis', given), edges, buffers);
        computed.record(beside);
        computed.holdBack(download);
        const sums = buffers.bringDown(edges.length - 1, download);
        return async () => {
          // In order: polling for the latest block first would exhaust its polls and sleep.
          landed = landed.then(() => buffers.landed.passed(EAGER_POLLS));
          await landed;
          return sums;
        };
      },
      take: async (given, gaps) => {
        const block = cudaSpectra('kurtosis', given);
        // In no other block's stream: the block that is filtered into this memory next waits for it.
        block.writing(zero);
        await zeros.write(block, gaps);
        block.addGaps(zero, gaps);
      },
      close: () => closers.close(),
    };
  });

/** Ranges that are sent at once. */
const MOST_BOXES = 2 ** 15;

/** Lists in use: one is written while others wait for the card. */
const LISTS = 8;

export class Zeros {
  private readonly lists;
  private next = 0;

  constructor(
    private readonly kernel: Kernel,
    session: CudaSession,
    private readonly stream: Stream,
    closers: Closers,
    private readonly most = MOST_BOXES,
  ) {
    // The card reads them in the host's memory.
    this.lists = Array.from({ length: LISTS }, () => ({
      memory: closers.keep(session.allocatePinned('what is flagged', 4 * BOX_NUMBERS * most)),
      read: closers.keep(session.createEvent()),
    }));
  }

  /** Queued after all work in the stream. */
  async write(block: CudaSpectraBlock, boxes: readonly SpectraGap[]): Promise<void> {
    const { pointer, pitchBytes, shape } = block;
    for (let first = 0; first < boxes.length; first += this.most) {
      const { memory, read } = this.lists[this.next++ % LISTS];
      const here = boxes.slice(first, first + this.most);
      await read.passed(EAGER_POLLS);
      memory.view(Int32Array, BOX_NUMBERS * here.length).set(packedBoxes(here));
      this.kernel.set([pointer, pitchBytes, shape.inputs, memory.pointer, here.length]);
      this.kernel.launch(zerosLaunch(here.length), this.stream);
      read.record(this.stream);
    }
  }
}
