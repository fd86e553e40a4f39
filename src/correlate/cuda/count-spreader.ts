/** Sends sample counts to the card in short form: a row for each run of channels, copied to every channel there. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory, PinnedMemory } from '../../backend/cuda/session.js';
import { preparing, type Closable } from '../../core/closing.js';
import type { CountRows } from '../../core/presence/sample-counts.js';
import type { CorrelatePlan } from '../plan.js';
import { planTotals } from './plan.js';

interface CountSpreader extends Closable {
  /** counts : [c][b] float64, valid in order on the compute stream until the next spread. */
  readonly counts: DeviceMemory;
  spread(rows: CountRows): Promise<void>;
}

const THREADS = 128;
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
        new Float64Array(rowsOnHost.buffer).set(countRows.rows);
        new Int32Array(runsOnHost.buffer).set(countRows.runOf);
        up(rows, rowsOnHost, countRows.rows.byteLength);
        up(runs, runsOnHost, countRows.runOf.byteLength);
        sent.record(stream);
        spreadCounts.set([rows.pointer, runs.pointer, counts.pointer, channels]);
        const grid = [Math.ceil(baselines / THREADS), Math.min(channels, MOST_GRID_ROWS)] as const;
        spreadCounts.launch({ grid, threads: THREADS }, stream);
      },
      close: () => closers.close(),
    };
  });
