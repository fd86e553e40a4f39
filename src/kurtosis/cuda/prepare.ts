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
import { EAGER_POLLS, planPowerSums, ROOMS } from './plan.js';
import { Room } from './rooms.js';
import { prepareKernels } from './sums.js';
import { Zeros } from './zeros.js';

export const cudaPowers = (plan: KurtosisPlan, backend: CudaBackend): Promise<PowerEngine> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { beside, download } = session.streams;
    const kernels = await prepareKernels(plan, backend, closers);
    const { zeroPieces } = await shop.prepare(planPowerSums(plan));
    const computed = closers.keep(session.createEvent());
    const rooms = Array.from({ length: ROOMS }, () => new Room(plan, session, closers));
    const zeros = new Zeros(zeroPieces, session, beside, closers);
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
      const room = rooms[begun++ % ROOMS];
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
      mostBegun: ROOMS,
      sums: async (given, edges, fencing) => {
        const coming = begin(given, edges, fencing);
        return coming();
      },
      take: async (given, _judgement, gaps) => {
        const block = cudaSpectra('kurtosis', given);
        // Not behind blocks that are still to be filtered; whoever reads this one waits for it.
        block.writing(beside);
        await zeros.write(block, gaps);
        block.addGaps(beside, gaps);
      },
      close: () => closers.close(),
    };
  });
