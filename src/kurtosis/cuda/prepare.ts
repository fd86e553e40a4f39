/** Sums of powers on a card (kurtosis.cu). Only sums come down, and the mask goes up where it takes something. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import { cudaSpectra } from '../../backend/cuda/spectra.js';
import { downloadInto, uploadInto } from '../../backend/cuda/transfer.js';
import { preparing } from '../../core/closing.js';
import type { PowerEngine } from '../flagger.js';
import { windowEdges, type KurtosisPlan } from '../plan.js';
import { planPowerSums, warpsFor } from './plan.js';

export const cudaPowers = (plan: KurtosisPlan, { session, shop }: CudaBackend): Promise<PowerEngine> =>
  preparing(async (closers) => {
    const { channels, inputs } = plan;
    const stream = session.streams.compute;
    const rows = channels * inputs;
    const { sumPowers, zeroTaken } = await shop.prepare(planPowerSums(plan));
    interface Room {
      readonly windows: number;
      readonly edges: DeviceMemory;
      readonly sums: DeviceMemory;
      readonly mask: DeviceMemory;
      readonly onHost: Float64Array;
    }
    let room: Room | undefined;
    /** Made for the first block; later ones are of the same capacity. */
    const roomFor = (windows: number, capacity: number): Room => {
      if (room && room.windows >= windows) return room;
      const most = Math.max(windows, windowEdges(plan, capacity).length - 1);
      room = {
        windows: most,
        edges: closers.keep(session.allocate('edges of windows', 4 * (most + 1))),
        sums: closers.keep(session.allocate('sums of powers', 16 * most * rows)),
        mask: closers.keep(session.allocate('a mask', Math.max(8, most * rows))),
        onHost: new Float64Array(2 * most * rows),
      };
      return room;
    };
    return {
      sums: async (given, edges) => {
        const block = cudaSpectra('kurtosis', given);
        const windows = edges.length - 1;
        const { sums, edges: edgesOnCard, onHost } = roomFor(windows, block.shape.capacity);
        await uploadInto(session, edgesOnCard, edges);
        block.reading(stream);
        sumPowers.set([block.pointer, block.pitchBytes, edgesOnCard.pointer, windows, rows, sums.pointer]);
        sumPowers.launch(warpsFor(rows * windows), stream);
        block.doneReading(stream);
        const made = onHost.subarray(0, 2 * windows * rows);
        await downloadInto(session, sums, made);
        return { sums: made };
      },
      take: async (given, edges, mask, gaps) => {
        const block = cudaSpectra('kurtosis', given);
        const windows = edges.length - 1;
        const { mask: onCard, edges: edgesOnCard } = roomFor(windows, block.shape.capacity);
        await uploadInto(session, onCard, mask);
        block.writing(stream);
        zeroTaken.set([
          ...[block.pointer, block.pitchBytes, edgesOnCard.pointer, windows, rows, onCard.pointer],
        ]);
        zeroTaken.launch(warpsFor(rows * windows), stream);
        block.addGaps(stream, gaps);
      },
      close: () => closers.close(),
    };
  });
