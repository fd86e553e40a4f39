/** Boxes of spectra on the card made zeros: their edges are all that goes up. */
import type { Kernel } from '../../backend/cuda/kernels.js';
import type { CudaEvent, CudaSession, PinnedMemory, Stream } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import type { Closers } from '../../core/closing.js';
import type { SpectraGap } from '../../core/gaps.js';
import { EAGER_POLLS, PIECE_NUMBERS, pieceOf, zerosLaunch } from './plan.js';

/** Pieces that go up at once. */
const MOST_PIECES = 2 ** 15;
/** Lists on their way: one is written while others wait for room on the card. */
const LISTS = 8;

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
    most = MOST_PIECES,
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
    const at: Place = { box: 0, piece: 0 };
    while (at.box < boxes.length) {
      const list = this.lists[this.next++ % LISTS];
      await list.read.passed(EAGER_POLLS);
      this.launch(block, list, fill(list.numbers, boxes, at));
    }
  }

  private launch(block: CudaSpectraBlock, { memory, read }: List, count: number): void {
    const { pointer, pitchBytes, shape } = block;
    this.kernel.set([pointer, pitchBytes, shape.inputs, memory.pointer, count]);
    this.kernel.launch(zerosLaunch(count), this.stream);
    read.record(this.stream);
  }
}

/** The next piece to be written: which box, and how many of its pieces were. */
interface Place {
  box: number;
  piece: number;
}

/** Pieces from a place on, as many as there is room for; how many, and the place behind them. */
function fill(numbers: Int32Array, boxes: readonly SpectraGap[], at: Place): number {
  let to = 0;
  for (; at.box < boxes.length && to < numbers.length; at.box++) {
    const box = boxes[at.box];
    const { firstChannel, endChannel, firstInput, endInput, firstSample, endSample } = box;
    const size = pieceOf(box);
    const across = Math.ceil((endInput - firstInput) / size.inputs);
    const pieces = across * Math.ceil((endChannel - firstChannel) / size.channels);
    for (; at.piece < pieces; at.piece++) {
      if (to === numbers.length) return to / PIECE_NUMBERS;
      const c = firstChannel + Math.floor(at.piece / across) * size.channels;
      const a = firstInput + (at.piece % across) * size.inputs;
      numbers[to] = c;
      numbers[to + 1] = Math.min(endChannel, c + size.channels);
      numbers[to + 2] = a;
      numbers[to + 3] = Math.min(endInput, a + size.inputs);
      numbers[to + 4] = firstSample;
      numbers[to + 5] = endSample;
      to += PIECE_NUMBERS;
    }
    at.piece = 0;
  }
  return to / PIECE_NUMBERS;
}
