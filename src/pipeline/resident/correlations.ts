/** Visibilities and their sample counts, both left on the card for calibration and image. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { countsCB } from '../../core/axes.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import type { CorrelatePlan } from '../../correlate/index.js';
import { prepareCudaCorrelator } from '../../correlate/on-card.js';

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
  const { session } = backend;
  const stream = session.streams.compute;
  const sizeBytes = 8 * plan.channels * plan.baselines;
  const correlator = closers.keep(await prepareCudaCorrelator(plan, backend));
  const counts = closers.keep(session.allocate('sample counts', sizeBytes));
  const onHost = closers.keep(session.allocatePinned('sample counts', sizeBytes));
  const countsOnHost = countsCB(
    new Float64Array(onHost.buffer, 0, sizeBytes / 8),
    plan.channels,
    plan.baselines,
  );
  const sent = closers.keep(session.createEvent());
  /** The samples of an integration without gaps whose counts lie on the card: the next one's are mostly the same. */
  let sentSamples: number | undefined;
  return {
    visibilities: correlator.totals,
    counts,
    accumulate: (block) => correlator.accumulate(block),
    finish: async () => {
      const { samples, gappyCounts } = correlator.counted;
      const isGapless = gappyCounts === undefined;
      if (isGapless && samples === sentSamples) {
        correlator.finishOnDevice();
        return samples;
      }
      await sent.passed();
      correlator.finishOnDevice(countsOnHost);
      session.call('cuMemcpyHtoDAsync', counts.pointer, onHost.pointer, sizeBytes, stream.handle);
      sent.record(stream);
      sentSamples = isGapless ? samples : undefined;
      return samples;
    },
    close: () => closers.close(),
  };
}
