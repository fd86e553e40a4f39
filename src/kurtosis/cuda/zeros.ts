/** Boxes of spectra on the card made zeros: their edges are all that goes up. */
import type { Kernel } from '../../backend/cuda/kernels.js';
import type { CudaEvent, CudaSession, PinnedMemory, Stream } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import type { Closers } from '../../core/closing.js';
import type { SpectraGap } from '../../core/gaps.js';
import { PIECE_NUMBERS, pieceOf, zerosLaunch } from './plan.js';

/** Pieces that go up at once. */
const MOST_PIECES = 2 ** 15;
/** Lists on their way, so that one is written while the card reads another. */
const LISTS = 2;

interface List {
  /** The card reads it where it lies. */
  readonly memory: PinnedMemory;
  readonly numbers: Int32Array;
  readonly read: CudaEvent;
}

export class Zeros {
  private readonly lists: readonly List[];
  private next = 0;

  constructor(
    private readonly kernel: Kernel,
    session: CudaSession,
    private readonly stream: Stream,
    closers: Closers,
    private readonly most = MOST_PIECES,
  ) {
    this.lists = Array.from({ length: LISTS }, () => {
      const memory = closers.keep(session.allocatePinned('what is taken', 4 * PIECE_NUMBERS * most));
      return {
        memory,
        numbers: new Int32Array(memory.buffer, 0, PIECE_NUMBERS * most),
        read: closers.keep(session.createEvent()),
      };
    });
  }

  /** Queued behind whatever is in the stream. */
  async write(block: CudaSpectraBlock, boxes: readonly SpectraGap[]): Promise<void> {
    let list = await this.free();
    let count = 0;
    const put = (
      c: number,
      endC: number,
      a: number,
      endA: number,
      { firstSample, endSample }: SpectraGap,
    ): void => {
      const { numbers } = list;
      const at = PIECE_NUMBERS * count++;
      numbers[at] = c;
      numbers[at + 1] = endC;
      numbers[at + 2] = a;
      numbers[at + 3] = endA;
      numbers[at + 4] = firstSample;
      numbers[at + 5] = endSample;
    };
    for (const box of boxes) {
      const { firstChannel, endChannel, firstInput, endInput } = box;
      const size = pieceOf(box);
      for (let c = firstChannel; c < endChannel; c += size.channels)
        for (let a = firstInput; a < endInput; a += size.inputs) {
          if (count === this.most) {
            this.launch(block, list, count);
            list = await this.free();
            count = 0;
          }
          put(c, Math.min(endChannel, c + size.channels), a, Math.min(endInput, a + size.inputs), box);
        }
    }
    if (count > 0) this.launch(block, list, count);
  }

  private async free(): Promise<List> {
    const list = this.lists[this.next++ % LISTS];
    await list.read.passed();
    return list;
  }

  private launch(block: CudaSpectraBlock, { memory, read }: List, count: number): void {
    const { pointer, pitchBytes, shape } = block;
    this.kernel.set([pointer, pitchBytes, shape.inputs, memory.pointer, count]);
    this.kernel.launch(zerosLaunch(count), this.stream);
    read.record(this.stream);
  }
}
