/**
 * Spectra phase-rotated on a card (turn.cu), from block to block: integers are copied to the card, floats never are.
 */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { KernelRequest, LaunchShape } from '../../../backend/cuda/kernels.js';
import type { DeviceMemory } from '../../../backend/cuda/session.js';
import { kernelSource } from '../../../backend/cuda/sources.js';
import { cudaSpectra } from '../../../backend/cuda/spectra.js';
import { uploadArray, uploadInto } from '../../../backend/cuda/transfer.js';
import { preparing } from '../../../core/closing.js';
import { checkTurning, type Turner, type TurningPlan } from '../plan.js';
import { turningRuns } from '../runs.js';

export const planTurnKernel = ({ type }: Pick<TurningPlan, 'type'>) =>
  ({
    ...kernelSource(import.meta.url, 'turn.cu'),
    defines: { FLOATS: type === 'cf32' ? 1 : 0 },
    entries: {
      turnSpectra: ['pointer', 'i64', 'pointer', 'pointer', 'i32', 'i32', 'i64', 'i32', 'pointer', 'i64'],
    },
  }) as const satisfies KernelRequest;

const THREADS = 256;
const MOST_BLOCKS = 2 ** 20;
/** Spectra of a thread. */
const EACH = 4;

/** Remaining work is done in further rounds of the threads. */
const threadsFor = (rows: number, samples: number): LaunchShape => ({
  grid: [Math.max(1, Math.min(MOST_BLOCKS, Math.ceil((rows * Math.ceil(samples / EACH)) / THREADS))), 1],
  threads: THREADS,
});

export const cudaTurner = (plan: TurningPlan, { session, shop }: CudaBackend): Promise<Turner> =>
  preparing(async (closers) => {
    const { channels, inputs } = plan;
    const rows = channels * inputs;
    const stream = session.streams.compute;
    const { turnSpectra } = await shop.prepare(planTurnKernel(plan));
    const frequencies = closers.keep(await uploadArray(session, 'frequencies', plan.frequenciesHz));
    let table: DeviceMemory | undefined;
    /** Allocated for the first time range, anew for one with more runs. */
    const roomFor = (bytes: number): DeviceMemory => {
      if (table === undefined || table.sizeBytes < bytes)
        table = closers.keep(session.allocate('delays of channels', bytes));
      return table;
    };
    return {
      run: async (given, made, delayModel, first) => {
        checkTurning(plan, given, made);
        const block = cudaSpectra('turning', given);
        const out = cudaSpectra('turning', made);
        const { samples } = block;
        const { edges, coefficients } = turningRuns(plan, delayModel, first, samples);
        const delays = new Float64Array(edges.length + coefficients.length);
        delays.set(edges);
        delays.set(coefficients, edges.length);
        const buffer = roomFor(delays.byteLength);
        // In the kernels' own stream: after the readers of the last delays.
        await uploadInto(session, buffer, delays, stream);
        block.reading(stream);
        out.writing(stream);
        if (samples > 0) {
          turnSpectra.set([
            block.pointer,
            block.pitchBytes,
            frequencies.pointer,
            buffer.pointer,
            edges.length - 1,
            inputs,
            rows,
            samples,
            out.pointer,
            out.pitchBytes,
          ]);
          turnSpectra.launch(threadsFor(rows, samples), stream);
        }
        block.doneReading(stream);
        // Integers are always finite floats; invalid input values stay invalid.
        out.doneWriting(stream, samples, block.gaps, { faulty: plan.type === 'cf32' && block.faulty });
      },
      close: () => closers.close(),
    };
  });
