/** Boxes of spectra on the card made zeros: their edges are all that goes up. */
import type { Kernel } from '../../backend/cuda/kernels.js';
import type { CudaSession, Stream } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import type { Closers } from '../../core/closing.js';
import type { SpectraGap } from '../../core/gaps.js';
import { BOX_NUMBERS, packedBoxes } from '../judgement.js';
import { EAGER_POLLS, zerosLaunch } from './plan.js';

/** Boxes that go up at once. */
const MOST_BOXES = 2 ** 15;
/** Lists on their way: one is written while others wait for the card. */
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
    // The card reads them where they are.
    this.lists = Array.from({ length: LISTS }, () => ({
      memory: closers.keep(session.allocatePinned('what is flagged', 4 * BOX_NUMBERS * most)),
      read: closers.keep(session.createEvent()),
    }));
  }

  /** Queued behind whatever is in the stream. */
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
