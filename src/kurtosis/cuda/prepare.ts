/**
 * Sums of powers on a card (kurtosis.cu), and the first look at them. They come down by themselves, into locked memory, while
 * the card goes on; what is taken goes up as boxes.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import { cudaSpectra } from '../../backend/cuda/spectra.js';
import { preparing } from '../../core/closing.js';
import type { Fencing } from '../fences.js';
import type { PowerEngine, Powers } from '../flagger.js';
import { windowEdges, type KurtosisPlan } from '../plan.js';
import type { SpectraBlock } from '../../core/blocks.js';
import { EAGER_POLLS, planPowerSums } from './plan.js';
import { Room } from './rooms.js';
import { prepareKernels } from './sums.js';
import { Zeros } from './zeros.js';

/** Of `blocks` that may be begun before the first is finished. */
export const cudaPowers = (plan: KurtosisPlan, backend: CudaBackend, blocks = 1): Promise<PowerEngine> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { beside, mend, download } = session.streams;
    const kernels = await prepareKernels(plan, backend, closers);
    const { zeroPieces } = await shop.prepare(planPowerSums(plan));
    const computed = closers.keep(session.createEvent());
    const rooms = Array.from({ length: blocks }, () => new Room(plan, session, closers));
    const zeros = new Zeros(zeroPieces, session, mend, closers);
    let begun = 0;
    /** The sums that were waited for last. */
    let landed: Promise<void> = Promise.resolve();

    const begin = (
      given: SpectraBlock,
      edges: Int32Array,
      fencing: Fencing | undefined,
    ): (() => Promise<Powers>) => {
      // All with the first block: later ones of its capacity make nothing.
      if (begun === 0) {
        const windows = windowEdges(plan, given.shape.capacity).length - 1;
        for (const one of rooms) one.reserve(windows);
      }
      const room = rooms[begun++ % blocks];
      kernels.queue(cudaSpectra('kurtosis', given), edges, fencing, room, beside);
      computed.record(beside);
      computed.holdBack(download);
      room.bringDown(fencing ? 'all' : 'sums', download);
      return async () => {
        // In their order: whoever asks for what is last asks so often in vain that it would go to rest.
        landed = landed.then(() => room.landed.passed(EAGER_POLLS));
        await landed;
        return room.powers(fencing !== undefined);
      };
    };
    return {
      begin,
      mostBegun: blocks,
      sums: async (given, edges, fencing) => {
        const coming = begin(given, edges, fencing);
        return coming();
      },
      take: async (given, _judgement, gaps) => {
        const block = cudaSpectra('kurtosis', given);
        // Behind no other block, filtered or summed: the one that is filtered into this memory waits for it.
        block.writing(mend);
        await zeros.write(block, gaps);
        block.addGaps(mend, gaps);
      },
      close: () => closers.close(),
    };
  });
