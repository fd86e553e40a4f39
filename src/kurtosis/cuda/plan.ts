/** Which kernels judge spectra on a card, with which numbers compiled in. Pure. */
import type { KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../backend/cuda/sources.js';
import type { KurtosisPlan } from '../plan.js';

const entries = {
  sumPowers: ['pointer', 'i64', 'pointer', 'i32', 'i64', 'pointer'],
  zeroTaken: ['pointer', 'i64', 'pointer', 'i32', 'i64', 'pointer'],
} as const;

export const planPowerSums = ({ type }: Pick<KurtosisPlan, 'type'>) =>
  ({
    name: 'kurtosis.cu',
    source: readSource(import.meta.url, 'kurtosis.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { FLOATS: type === 'cf32' ? 1 : 0 },
    entries,
  }) satisfies KernelRequest;

const THREADS = 256;
const WARP = 32;
const MOST_BLOCKS = 2 ** 20;

/** A warp for each window of each row; those that are more go round. */
export const warpsFor = (items: number): LaunchShape => ({
  grid: [Math.max(1, Math.min(MOST_BLOCKS, Math.ceil((items * WARP) / THREADS))), 1],
  threads: THREADS,
});
