/** Visibilities and their sample counts, both left on the card for calibration and image. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import type { CorrelatePlan } from '../../correlate/index.js';
import { prepareCountSpreader, prepareCudaCorrelator } from '../../correlate/on-card.js';

export interface ResidentCorrelations extends Closable {
  accumulate(block: CudaSpectraBlock): Promise<void>;
  /** Hands the integration over, in order on the compute stream, and starts the next; its samples. */
  finish(): Promise<number>;
  /** visibilities : [c][b][p_i][p_j] complex float64, sums over samples; valid until the next accumulate. */
  readonly visibilities: DeviceMemory;
  /** counts : [c][b] float64. */
  readonly counts: DeviceMemory;
}

export const prepareResidentCorrelations = (
  plan: CorrelatePlan,
  backend: CudaBackend,
): Promise<ResidentCorrelations> => preparing((closers) => prepare(plan, backend, closers));

async function prepare(
  plan: CorrelatePlan,
  backend: CudaBackend,
  closers: Closers,
): Promise<ResidentCorrelations> {
  const correlator = closers.keep(await prepareCudaCorrelator(plan, backend));
  const spreader = closers.keep(await prepareCountSpreader(plan, backend));
  /** The samples of an integration without gaps whose counts lie on the card: the next one's are mostly the same. */
  let sentSamples: number | undefined;
  return {
    visibilities: correlator.totals,
    counts: spreader.counts,
    accumulate: (block) => correlator.accumulate(block),
    finish: async () => {
      const { samples, isGapless } = correlator.counted;
      if (isGapless && samples === sentSamples) {
        correlator.finishOnDevice();
        return samples;
      }
      await spreader.spread(correlator.finishWithRows());
      sentSamples = isGapless ? samples : undefined;
      return samples;
    },
    close: () => closers.close(),
  };
}
