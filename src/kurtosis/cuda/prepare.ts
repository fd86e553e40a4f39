/**
 * Sums of powers on a card (kurtosis.cu). They are copied to locked memory while the card continues; the host decides,
 * and sends flagged ranges to the card.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { Stream, CudaSession } from '../../backend/cuda/session.js';
import { cudaSpectra, type CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { preparing, type Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { PowerEngine } from '../flagger.js';
import { windowEdges, type KurtosisPlan } from '../plan.js';
import { areWholeCells, cellsLaunch, EAGER_POLLS, planPowerSums, sumsLaunch, zerosLaunch } from './plan.js';
import { SumBuffers } from './sum-buffers.js';
import type { Kernel } from '../../backend/cuda/kernels.js';
import type { SpectraGap } from '../../core/gaps.js';
import { BOX_NUMBERS, packedBoxes } from '../decision.js';

/** Kernels count windows of inputs and channels by 32 bits. */
const MOST_CELLS = 2 ** 31;

/** Queues a block's sums into a buffer. */
async function prepareSums(
  plan: KurtosisPlan,
  { shop }: CudaBackend,
): Promise<(block: CudaSpectraBlock, edges: Int32Array, buffers: SumBuffers, stream: Stream) => void> {
  const { channels, inputs } = plan;
  const rows = channels * inputs;
  const { sumPowers, sumCells } = await shop.prepare(planPowerSums(plan));
  return (block, edges, buffers, stream) => {
    const windows = edges.length - 1;
    if (windows * rows >= MOST_CELLS)
      refuse(
        'kurtosis',
        `a card cannot sum ${windows} windows of ${rows} rows at once`,
        'take shorter blocks',
      );
    buffers.reserve(windows);
    const onCard = buffers.send(edges, stream);
    const { powers, powersBuffer } = block;
    block.reading(stream);
    if (powers && powersBuffer && areWholeCells(edges, block.samples, powers)) {
      sumCells.set([
        powersBuffer.pointer,
        powers.channels.pointer,
        onCard,
        windows,
        powers.perWindow,
        channels,
        inputs,
        block.pointer,
        block.pitchBytes,
        buffers.sums,
      ]);
      sumCells.launch(cellsLaunch(plan, windows), stream);
    } else {
      sumPowers.set([block.pointer, block.pitchBytes, onCard, windows, rows, buffers.sums]);
      sumPowers.launch(sumsLaunch(plan, windows), stream);
    }
    block.doneReading(stream);
  };
}

/** With `blocks` that may be begun before the first is finished. */
export const cudaPowers = (plan: KurtosisPlan, backend: CudaBackend, blocks = 1): Promise<PowerEngine> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { beside, zero, download } = session.streams;
    const queueSums = await prepareSums(plan, backend);
    const { zeroBoxes } = await shop.prepare(planPowerSums(plan));
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
        queueSums(cudaSpectra('kurtosis', given), edges, buffers, beside);
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
      new Int32Array(memory.buffer).set(packedBoxes(here));
      this.kernel.set([pointer, pitchBytes, shape.inputs, memory.pointer, here.length]);
      this.kernel.launch(zerosLaunch(here.length), this.stream);
      read.record(this.stream);
    }
  }
}
