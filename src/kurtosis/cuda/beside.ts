/**
 * A filter that fills the card's arithmetic and sums that fill its memory's bus get in each other's way little where each has
 * multiprocessors of its own: a few are enough to read all spectra again while the next block is filtered on the others.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { CudaSession } from '../../backend/cuda/session.js';
import type { KurtosisPlan } from '../plan.js';

/** The part that sums need: floats are four times the bytes, and are summed in float64. */
const SHARES = { ci8: 1 / 11, ci4: 1 / 11, cf32: 2 / 11 } as const satisfies Record<
  KurtosisPlan['type'],
  number
>;

export const multiprocessorsBeside = (
  { type }: Pick<KurtosisPlan, 'type'>,
  { multiprocessors }: { readonly multiprocessors: number },
): number => Math.max(1, Math.round(multiprocessors * SHARES[type]));

/** The same card for whoever fills it with blocks that stay, so many multiprocessors smaller. */
export function leaving(backend: CudaBackend, count: number): CudaBackend {
  const { session } = backend;
  const device = { ...session.device, multiprocessors: Math.max(1, session.device.multiprocessors - count) };
  return { ...backend, session: Object.create(session, { device: { value: device } }) as CudaSession };
}
