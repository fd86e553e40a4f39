/**
 * The X-engine fed from the host: every block is uploaded, checked, unpacked if it is 4-bit, and added to the
 * integration; uploads overlap the computation. The ceiling is the slower of the bus alone and the kernel alone.
 */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { CudaSpectraBlock } from '../backend/cuda/spectra.js';
import { spectraSizeBytes, type SpectraCAT, type SpectraType } from '../core/axes.js';
import type { SpectraShape } from '../core/blocks.js';
import type { Closers } from '../core/closing.js';
import { planCorrelation, prepareCorrelator, type Correlator } from '../correlate/index.js';
import { CARD_SECONDS_PER_TURN, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import type { Contestant, Work } from './measure.js';
import { fillSpectra } from './noise.js';

const POLARISATIONS = 2;
const SAMPLES = 2048;
const BLOCK_BYTES = 2 ** 28;
/** One being uploaded, one checked and unpacked, one correlated. */
const BLOCKS = 3;
/** The bandwidth correlated by the Murchison Widefield Array. */
const MWA_BANDWIDTH_HZ = 30.72e6;

export const integratedBench: KernelBench = {
  kernel: 'correlate-integrated',
  cases: (backend) =>
    backend.kind === 'cuda'
      ? (['ci8', 'ci4'] as const).flatMap((type) =>
          [64, 128, 256, 512].map((stations) => integratedCase(backend, stations, type)),
        )
      : [],
};

function integratedCase(
  backend: CudaBackend,
  stations: number,
  type: Exclude<SpectraType, 'cf32'>,
): BenchCase {
  const inputs = stations * POLARISATIONS;
  const channels = Math.floor(BLOCK_BYTES / (inputs * SAMPLES * spectraSizeBytes(type)));
  return {
    parameters: { stations, polarisations: POLARISATIONS, channels, samples: SAMPLES, type },
    unit: 'GB/s',
    scale: 1e9,
    prepare: (closers) => prepare(backend, stations, { type, channels, inputs, capacity: SAMPLES }, closers),
  };
}

async function prepare(
  backend: CudaBackend,
  stations: number,
  shape: SpectraShape,
  closers: Closers,
): Promise<PreparedCase> {
  const { type, channels, inputs } = shape;
  const blockBytes = channels * inputs * SAMPLES * spectraSizeBytes(type);
  const sources = [0, 1].map(() => {
    const { spectra } = closers.keep(backend.allocatePinned(shape));
    fillSpectra(spectra);
    return spectra;
  });
  const blocks = Array.from({ length: BLOCKS }, () => closers.keep(backend.allocateSpectra(shape)));
  const plan = planCorrelation({ stations, polarisations: POLARISATIONS, channels, type });
  const correlator = closers.keep(await prepareCorrelator(plan, backend));
  const turns = Math.ceil((CARD_SECONDS_PER_TURN * 60e9) / blockBytes);

  const stream = timed(backend, turns * blockBytes, () => streamBlocks(correlator, blocks, sources, turns));
  const bus = timed(backend, turns * blockBytes, () => {
    const { session } = backend;
    for (let n = 0; n < turns; n++) {
      const from = session.pinnedAddress(sources[n % sources.length]) ?? 0n;
      session.call(
        'cuMemcpyHtoDAsync',
        blocks[n % BLOCKS].pointer,
        from,
        blockBytes,
        session.streams.upload.handle,
      );
    }
    return Promise.resolve();
  });
  const kernel = timed(backend, turns * blockBytes, async () => {
    for (let n = 0; n < turns; n++) await correlator.accumulate(blocks[n % BLOCKS]);
  });
  await stream.run();
  const rate = (done: Work): number => (typeof done === 'number' ? done : done.work / done.seconds);
  const busIsSlower = rate(await bus.run()) < rate(await kernel.run());
  const realTimeBytes = inputs * MWA_BANDWIDTH_HZ * spectraSizeBytes(type);
  return {
    ours: stream,
    ceiling: busIsSlower ? { ...bus, title: 'the bus alone' } : { ...kernel, title: 'the kernel alone' },
    // A requirement rather than a peer: the data rate of this many stations.
    peer: { name: 'real time at 30.72 MHz', run: () => Promise.resolve({ work: realTimeBytes, seconds: 1 }) },
  };
}

/** Each block cycles independently: written, passed to the correlator, written again. */
async function streamBlocks(
  correlator: Correlator,
  blocks: readonly CudaSpectraBlock[],
  sources: readonly SpectraCAT[],
  turns: number,
): Promise<void> {
  let taken = 0;
  const goRound = async (block: CudaSpectraBlock): Promise<void> => {
    while (taken < turns) {
      const source = sources[taken++ % sources.length];
      await block.write(source, SAMPLES);
      await correlator.accumulate(block);
    }
  };
  await Promise.all(blocks.map(goRound));
}

/** From the first call until every stream of the GPU is idle. */
const timed = (backend: CudaBackend, work: number, run: () => Promise<void>): Contestant => ({
  run: async () => {
    const started = performance.now();
    await run();
    for (const stream of Object.values(backend.session.streams)) {
      const end = backend.session.createEvent();
      end.record(stream);
      await end.passed();
      await end.close();
    }
    return { work, seconds: (performance.now() - started) / 1000 };
  },
});
