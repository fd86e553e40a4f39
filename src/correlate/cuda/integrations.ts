/** Integrations that stay on the card: their counts, and longer ones summed from them. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory, PinnedMemory } from '../../backend/cuda/session.js';
import { downloadInto } from '../../backend/cuda/transfer.js';
import { visibilitiesCBPP, type VisibilitiesCBPP } from '../../core/axes.js';
import { preparing, type Closable } from '../../core/closing.js';
import type { CountRows } from '../../core/presence/sample-counts.js';
import type { CorrelatePlan } from '../plan.js';
import { planTotals } from './plan.js';

/** Sends sample counts to the card in short form: a row for each run of channels, copied to every channel there. */
interface CountSpreader extends Closable {
  /** counts : [c][b] float64, valid in order on the compute stream until the next spread. */
  readonly counts: DeviceMemory;
  spread(rows: CountRows): Promise<void>;
}

const MOST_GRID_ROWS = 65_535;

export const prepareCountSpreader = (
  plan: Pick<CorrelatePlan, 'channels' | 'baselines' | 'inputs' | 'polarisations'>,
  backend: CudaBackend,
): Promise<CountSpreader> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { channels, baselines } = plan;
    const stream = session.streams.compute;
    const { spreadCounts } = await shop.prepare(planTotals(plan));
    // As many runs as channels at the most.
    const [rowBytes, runBytes] = [8 * channels * baselines, 4 * channels];
    const counts = closers.keep(session.allocate('sample counts', rowBytes));
    const rows = closers.keep(session.allocate('rows of counts', rowBytes));
    const runs = closers.keep(session.allocate('runs of channels', runBytes));
    const rowsOnHost = closers.keep(session.allocatePinned('rows of counts', rowBytes));
    const runsOnHost = closers.keep(session.allocatePinned('runs of channels', runBytes));
    const sent = closers.keep(session.createEvent());
    const up = (to: DeviceMemory, from: PinnedMemory, sizeBytes: number): void => {
      session.call('cuMemcpyHtoDAsync', to.pointer, from.pointer, sizeBytes, stream.handle);
    };
    return {
      counts,
      spread: async (countRows) => {
        await sent.passed();
        rowsOnHost.view(Float64Array, countRows.rows.length).set(countRows.rows);
        runsOnHost.view(Int32Array, countRows.runOf.length).set(countRows.runOf);
        up(rows, rowsOnHost, countRows.rows.byteLength);
        up(runs, runsOnHost, countRows.runOf.byteLength);
        sent.record(stream);
        spreadCounts.set([rows.pointer, runs.pointer, counts.pointer, channels]);
        const grid = [Math.ceil(baselines / 128), Math.min(channels, MOST_GRID_ROWS)] as const;
        spreadCounts.launch({ grid, threads: 128 }, stream);
      },
      close: () => closers.close(),
    };
  });

/**
 * Long integrations summed from short ones on the card, for products with different cadences, correlated once. Sums of
 * integers equal those of one long integration, bit for bit.
 */
interface LongSums extends Closable {
  /** Adds totals : [c][b][p_i][p_j] complex float64, in order on the compute stream. */
  add(totals: DeviceMemory): void;
  /**
   * Ends the integration: later totals belong to the next. The copy to the host runs meanwhile; the next call waits for
   * it first. New arrays.
   */
  finish(): Promise<VisibilitiesCBPP>;
}

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
        addToLonger.launch({ grid: [Math.min(65_536, Math.ceil(products / 256)), 1], threads: 256 }, compute);
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
