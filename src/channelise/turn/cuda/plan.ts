/** The kernel that rotates spectra on a card. Pure. */
import type { KernelRequest, LaunchShape } from '../../../backend/cuda/kernels.js';
import { kernelSource } from '../../../backend/cuda/sources.js';
import type { TurningPlan } from '../plan.js';

const entries = {
  turnSpectra: [
    ...(['pointer', 'i64', 'pointer', 'pointer', 'i32', 'i32', 'i64', 'i32'] as const),
    ...(['pointer', 'i64'] as const),
  ],
} as const;

export const planTurnKernel = ({ type }: Pick<TurningPlan, 'type'>) =>
  ({
    ...kernelSource(import.meta.url, 'turn.cu'),
    defines: { FLOATS: type === 'cf32' ? 1 : 0 },
    entries,
  }) satisfies KernelRequest;

const THREADS = 256;
const MOST_BLOCKS = 2 ** 20;
/** Spectra of a thread. */
const EACH = 4;

/** Remaining work is done in further rounds of the threads. */
export const threadsFor = (rows: number, samples: number): LaunchShape => ({
  grid: [Math.max(1, Math.min(MOST_BLOCKS, Math.ceil((rows * Math.ceil(samples / EACH)) / THREADS))), 1],
  threads: THREADS,
});
