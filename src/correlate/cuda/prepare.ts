/**
 * The X-engine on a card. Each block adds to int32 sums; before these could overflow they are added to float64 totals,
 * which represent integers exactly to 2⁵³. Both stay on the card until the integration is finished.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { Kernel } from '../../backend/cuda/kernels.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import { cudaSpectra, type CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { downloadInto, uploadArray } from '../../backend/cuda/transfer.js';
import { visibilitiesCBPP, type SpectraType } from '../../core/axes.js';
import { preparing, type Closers } from '../../core/closing.js';
import { SampleCounter } from '../../core/presence/sample-counter.js';
import type { CorrelationResult, Correlator } from '../correlator.js';
import { prepareXEngine } from './engine.js';
import { planFloatEngine, planTotals } from './plan.js';
import { checkCorrelateBlock, type CorrelatePlan } from '../plan.js';
import { checkSpectra } from '../unpack.js';

interface CudaCorrelator extends Correlator {
  /**
   * totals : [c][b][p_i][p_j], complex float64: the integration of finishOnDevice, valid until the next accumulate, in
   * order on the compute stream.
   */
  readonly totals: DeviceMemory;
  /** The state of the integration: whether every sample arrived, and how many there are. */
  readonly counted: Pick<SampleCounter, 'samples' | 'isGapless'>;
  /**
   * Like finish, without the copy to the host. Counts are computed only on request: they are millions of numbers that
   * seldom change from one integration to the next.
   */
  finishOnDevice(): void;
}

/** A launch adds at most this many samples, a multiple of the kernels' spans. */
const MOST_SAMPLES_PER_LAUNCH = 65_536;
/** A sample adds at most 2·max² to a sum: 66,572 samples of 8 bits stay below 2³¹. */
export const mostInt32Samples = {
  ci8: Math.floor((2 ** 31 - 1) / (2 * 127 ** 2)),
  ci4: Math.floor((2 ** 31 - 1) / (2 * 7 ** 2)),
} satisfies Record<Exclude<SpectraType, 'cf32'>, number>;

/** Adds one block's products to the integration. */
interface Engine {
  add(block: CudaSpectraBlock): void;
  /** After this the totals include everything added since the last call of `restart`. */
  settle(): void;
  restart(): void;
}

export const prepareCudaCorrelator = (plan: CorrelatePlan, backend: CudaBackend): Promise<CudaCorrelator> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { channels, polarisations, baselines } = plan;
    const stream = session.streams.compute;
    const products = channels * baselines * polarisations ** 2;
    const totals = closers.keep(
      session.allocate(`totals of ${channels} channels × ${baselines} baselines`, products * 16),
    );
    const kernels = await shop.prepare(planTotals(plan));
    const { type } = plan;
    const engine = await (type === 'cf32'
      ? prepareFloat(plan, backend, totals)
      : prepareInteger(plan, backend, closers, totals, kernels.addToTotals, mostInt32Samples[type]));

    const anyFlagged = plan.flaggedInputs.includes(1);
    const flags = closers.keep(await uploadArray(session, 'input flags', plan.flaggedInputs));
    const counter = new SampleCounter(plan, plan.flaggedInputs);

    /** Leaves the integration in the totals. */
    function settle(): void {
      engine.settle();
      if (counter.samples === 0)
        session.call('cuMemsetD8Async', totals.pointer, 0, products * 16, stream.handle);
      if (anyFlagged) {
        kernels.zeroFlagged.set([totals.pointer, flags.pointer, channels]);
        kernels.zeroFlagged.launch(
          { grid: [Math.min(4096, Math.ceil(baselines / 128)), 1], threads: 128 },
          stream,
        );
      }
      engine.restart();
    }

    return {
      plan,
      totals,
      accumulate: async (given) => {
        const block = cudaSpectra('correlate', given);
        checkCorrelateBlock(plan, block, counter.samples);
        // Rare, so the search for the bad value, and whether its input is flagged anyway, may be slow.
        if (block.faulty) checkSpectra(plan, await block.read(), block.samples);
        if (block.samples > 0) {
          block.reading(stream);
          engine.add(block);
          block.doneReading(stream);
        }
        counter.add(block.samples, block.gaps);
      },
      counted: counter,
      finishOnDevice: () => {
        settle();
        counter.restart();
      },
      finish: async (): Promise<CorrelationResult> => {
        settle();
        const { samples } = counter;
        const counts = counter.finishProducts();
        const values = new Float64Array(products * 2);
        await downloadInto(session, totals, values);
        const visibilities = visibilitiesCBPP(values, channels, baselines, polarisations);
        return { visibilities, ...counts, samples };
      },
      close: () => closers.close(),
    };
  });

async function prepareInteger(
  plan: CorrelatePlan,
  backend: CudaBackend,
  closers: Closers,
  totals: DeviceMemory,
  addToTotals: Kernel,
  mostSamples: number,
): Promise<Engine> {
  const { session } = backend;
  const stream = session.streams.compute;
  const products = plan.channels * plan.baselines * plan.polarisations ** 2;
  const sums = closers.keep(
    session.allocate(`sums of ${plan.channels} channels × ${plan.baselines} baselines`, products * 8),
  );
  const [replacing, adding] = await closers.keepAll([
    prepareXEngine(plan, backend, { mode: 'replace' }),
    prepareXEngine(plan, backend, { mode: 'add' }),
  ]);
  let inSums = 0;
  let anyInTotals = false;
  const settle = (): void => {
    if (inSums === 0) return;
    addToTotals.set([sums.pointer, totals.pointer, products, anyInTotals ? 1 : 0]);
    addToTotals.launch({ grid: [Math.min(65_536, Math.ceil(products / 256)), 1], threads: 256 }, stream);
    inSums = 0;
    anyInTotals = true;
  };
  return {
    add: (block) => {
      for (let first = 0; first < block.samples; first += MOST_SAMPLES_PER_LAUNCH) {
        const count = Math.min(MOST_SAMPLES_PER_LAUNCH, block.samples - first);
        if (inSums + count > mostSamples) settle();
        (inSums === 0 ? replacing : adding).launch(block, first, count, sums, stream);
        inSums += count;
      }
    },
    settle,
    restart: () => {
      inSums = 0;
      anyInTotals = false;
    },
  };
}

async function prepareFloat(
  plan: CorrelatePlan,
  backend: CudaBackend,
  totals: DeviceMemory,
): Promise<Engine> {
  const { request, itemsPerChannel } = planFloatEngine(plan);
  const { correlateFloat } = await backend.shop.prepare(request);
  const grid = [plan.channels * itemsPerChannel, 1] as const;
  let any = false;
  return {
    add: (block) => {
      correlateFloat.set([block.pointer, block.pitchBytes, block.samples, any ? 1 : 0, totals.pointer]);
      correlateFloat.launch({ grid, threads: 256 }, backend.session.streams.compute);
      any = true;
    },
    settle: () => undefined,
    restart: () => {
      any = false;
    },
  };
}
