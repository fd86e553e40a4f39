/** The kernels that sum powers and look at the sums, queued for a block. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { Stream } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { FenceBook, type Fencing } from '../fences.js';
import { windowEdges, type KurtosisPlan } from '../plan.js';
import { areWholeCells, cellsLaunch, planPowerSums, screenLaunch, sumsLaunch } from './plan.js';
import { Room } from './rooms.js';

/** Kernels count windows of inputs and channels by 32 bits. */
const MOST_CELLS = 2 ** 31;

export interface CardKernels {
  /** Queues a block's sums, screened where there are fences, into a room. */
  queue(
    block: CudaSpectraBlock,
    edges: Int32Array,
    fencing: Fencing | undefined,
    room: Room,
    stream: Stream,
  ): void;
}

export async function prepareKernels(
  plan: KurtosisPlan,
  { session, shop }: CudaBackend,
  closers: Closers,
): Promise<CardKernels> {
  const { channels, inputs, realChannels } = plan;
  const rows = channels * inputs;
  const { sumPowers, sumCells, screenSums } = await shop.prepare(planPowerSums(plan));
  const flags = closers.keep(await uploadArray(session, 'input flags', plan.flaggedInputs));
  return {
    queue: (block, edges, fencing, room, stream) => {
      const windows = edges.length - 1;
      if (windows * rows >= MOST_CELLS) {
        refuse(
          'kurtosis',
          `${windows} windows of ${channels} channels and ${inputs} inputs are more than a card judges at once`,
          'take shorter blocks',
        );
      }
      const layout = room.layoutFor(windows);
      const { powers, powersRoom } = block;
      const on = room.send(edges, fencing, stream);
      block.reading(stream);
      if (powers && powersRoom && areWholeCells(edges, block.samples, powers)) {
        sumCells.set([
          ...[powersRoom.pointer, powers.channels.pointer, on.edges, windows, powers.perWindow],
          ...[channels, inputs],
          ...[block.pointer, block.pitchBytes, room.pointer()],
        ]);
        sumCells.launch(cellsLaunch(plan, windows), stream);
      } else {
        const { windowBits, shape } = sumsLaunch(plan, windows);
        sumPowers.set([
          ...[block.pointer, block.pitchBytes, on.edges, windows, rows, windowBits, room.pointer()],
        ]);
        sumPowers.launch(shape, stream);
      }
      block.doneReading(stream);
      if (!fencing) return;
      screenSums.set([
        ...[room.pointer(), windows, channels, inputs, realChannels, flags.pointer],
        ...[on.heads, on.tables, on.places],
        ...[room.pointer(layout.marks), room.pointer(layout.groupMarks), room.pointer(layout.totals)],
      ]);
      screenSums.launch(screenLaunch(plan, windows), stream);
    },
  };
}

/** The kernels alone over one block, for whoever times them: nothing comes down. */
export const prepareCardSums = (
  plan: KurtosisPlan,
  backend: CudaBackend,
  block: CudaSpectraBlock,
): Promise<Closable & { readonly launch: () => void }> =>
  preparing(async (closers) => {
    const kernels = await prepareKernels(plan, backend, closers);
    const { session } = backend;
    const room = new Room(plan, session, closers);
    const edges = windowEdges(plan, block.samples);
    const fencing = new FenceBook(plan).fencing(edges);
    return {
      launch: () => {
        kernels.queue(block, edges, fencing, room, session.streams.compute);
      },
      close: () => closers.close(),
    };
  });
