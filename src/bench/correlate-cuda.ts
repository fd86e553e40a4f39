/** The X-engine's kernel on a GPU, timed by GPU events, compared with matrix products alone on the same GPU. */
import { prepareCeilings, type Ceilings } from '../backend/cuda/ceilings.js';
import { cudaPaths, type CudaBackend } from '../backend/cuda/cuda.js';
import type { CudaSession } from '../backend/cuda/session.js';
import {
  chooseHopperVariant,
  hopperVariants,
  prepareXEngine,
  type HopperVariantName,
  type XEngineOptions,
} from '../correlate/on-card.js';
import { planCorrelation } from '../correlate/index.js';
import { CARD_SECONDS_PER_TURN, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { quantile, type Contestant } from './measure.js';

const STATIONS = [32, 64, 128, 256, 512] as const;
const POLARISATIONS = 2;
const SAMPLES = 2048;
/** Much larger than the L2 cache. */
const INPUT_BYTES = 2 ** 30;

/**
 * Successive launches for a quarter of a second or more, with an event between them, after half as many untimed ones:
 * by then the clock has settled under the power limit. The median launch counts, so that an interruption of the host
 * has no effect.
 */
export function cardContestant(session: CudaSession, launch: () => void, workPerLaunch: number): Contestant {
  const stream = session.streams.compute;
  let launches = 8;
  return {
    run: async () => {
      const events = Array.from({ length: launches + 1 }, () => session.createEvent({ timing: 'on' }));
      for (let n = 0; n < launches / 2; n++) launch();
      events[0].record(stream);
      for (const event of events.slice(1)) {
        launch();
        event.record(stream);
      }
      await events[launches].passed();
      const secondsEach = events
        .slice(1)
        .map((event, n) => session.millisecondsBetween(events[n], event) / 1000);
      for (const event of events) await event.close();
      const done = { work: launches * workPerLaunch, seconds: launches * quantile(secondsEach, 0.5) };
      launches = Math.max(8, Math.ceil((launches * 1.2 * CARD_SECONDS_PER_TURN) / done.seconds));
      return done;
    },
  };
}

/** Each size by its default variant: replacing the sums, as for a first block, and adding to them. */
export const cudaCorrelateCases = (backend: CudaBackend): BenchCase[] =>
  STATIONS.flatMap((stations) =>
    (['replace', 'add'] as const).map((mode) => {
      const variant = chooseHopperVariant(stations * POLARISATIONS);
      return kernelCase(backend, stations, { mode, ...(backend.path === 'hopper' ? { variant } : {}) });
    }),
  );

/** Every variant that supports a size, as table 3 of the xGPU paper compares levels of tiling. */
export const variantsBench: KernelBench = {
  kernel: 'correlate-variants',
  cases: (backend) => {
    if (backend.kind !== 'cuda' || backend.path !== 'hopper') return [];
    const names = Object.keys(hopperVariants) as HopperVariantName[];
    return STATIONS.flatMap((stations) =>
      names
        .filter((variant) => stations * POLARISATIONS <= hopperVariants[variant].mostInputs)
        .map((variant) => kernelCase(backend, stations, { mode: 'replace', variant })),
    );
  },
};

function kernelCase(backend: CudaBackend, stations: number, options: XEngineOptions): BenchCase {
  const inputs = stations * POLARISATIONS;
  const channels = Math.floor(INPUT_BYTES / (inputs * SAMPLES * 2));
  const operations = (8 * channels * SAMPLES * inputs * (inputs + 1)) / 2;
  return {
    parameters: {
      stations,
      polarisations: POLARISATIONS,
      channels,
      samples: SAMPLES,
      type: 'ci8',
      variant: options.variant ?? backend.path,
      sums: options.mode,
    },
    unit: 'TOPS',
    scale: 1e12,
    prepare: async (closers): Promise<PreparedCase> => {
      const { session } = backend;
      const stream = session.streams.compute;
      const plan = planCorrelation({ stations, polarisations: POLARISATIONS, channels, type: 'ci8' });
      const block = closers.keep(
        backend.allocateSpectra({ type: 'ci8', channels, inputs, capacity: SAMPLES }),
      );
      const sums = closers.keep(session.allocate('sums', channels * plan.baselines * POLARISATIONS ** 2 * 8));
      const ceilings = closers.keep(await prepareCeilings(backend));
      ceilings.fill(block.pointer, block.pitchBytes * inputs * channels, stations);
      block.doneWriting(stream, SAMPLES, []);
      const engine = closers.keep(await prepareXEngine(plan, backend, options));
      return {
        ours: cardContestant(
          session,
          () => {
            engine.launch(block, 0, SAMPLES, sums, stream);
          },
          operations,
        ),
        ceiling: productsAlone(backend, ceilings),
      };
    },
  };
}

export const productsAlone = (backend: CudaBackend, ceilings: Ceilings): PreparedCase['ceiling'] => ({
  title: `int8 products alone, ${cudaPaths[backend.path].title}`,
  ...cardContestant(
    backend.session,
    () => {
      ceilings.launch();
    },
    ceilings.operations,
  ),
});
