/**
 * Long integrations summed from short ones on the card, for products with different cadences, correlated once. Sums of
 * integers equal those of one long integration, bit for bit.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import { downloadInto } from '../../backend/cuda/transfer.js';
import { visibilitiesCBPP, type VisibilitiesCBPP } from '../../core/axes.js';
import { preparing, type Closable } from '../../core/closing.js';
import type { CorrelatePlan } from '../plan.js';
import { planTotals } from './plan.js';

interface LongSums extends Closable {
  /** Adds totals : [c][b][p_i][p_j] complex float64, in order on the compute stream. */
  add(totals: DeviceMemory): void;
  /**
   * Ends the integration: later totals belong to the next. The copy to the host runs meanwhile; the next call waits for
   * it first. New arrays.
   */
  finish(): Promise<VisibilitiesCBPP>;
}

const THREADS = 256;

export const prepareLongSums = (plan: CorrelatePlan, backend: CudaBackend): Promise<LongSums> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { compute, download } = session.streams;
    const { channels, baselines, polarisations } = plan;
    const products = channels * baselines * polarisations ** 2;
    const { addToLonger } = await shop.prepare(planTotals(plan));
    const buffers = [0, 1].map(() =>
      closers.keep(
        session.allocate(`long sums of ${channels} channels × ${baselines} baselines`, products * 16),
      ),
    );
    const added = closers.keep(session.createEvent());
    let current = 0;
    let any = false;
    return {
      add: (totals) => {
        addToLonger.set([totals.pointer, buffers[current].pointer, products, any ? 1 : 0]);
        addToLonger.launch(
          { grid: [Math.min(65_536, Math.ceil(products / THREADS)), 1], threads: THREADS },
          compute,
        );
        any = true;
      },
      finish: async () => {
        const done = buffers[current];
        const wasAny = any;
        current = 1 - current;
        any = false;
        added.record(compute);
        added.holdBack(download);
        const values = new Float64Array(products * 2);
        if (wasAny) await downloadInto(session, done, values, download);
        return visibilitiesCBPP(values, channels, baselines, polarisations);
      },
      close: () => closers.close(),
    };
  });
