/** The F-engine with interference flagging by spectral kurtosis; the peer is the same without flagging. */
import type { Backend } from '../backend/backend.js';
import { cpuCeilings } from '../backend/cpu/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { planChannelise } from '../channelise/index.js';
import { allocateVoltages, type SpectraType } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import type { Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { prepareChannelise, prepareKurtosis, type TimedSpectra, chain, type Stage } from '../stages/index.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { scriptCeiling } from './ceiling.js';
import { cudaKurtosisCases } from './kurtosis-cuda.js';
import type { Contestant, Work } from './measure.js';

type HostBackend = Exclude<Backend, CudaBackend>;

interface Size {
  readonly channels: number;
  readonly taps: number;
  readonly outputType: SpectraType;
}

const sizes: readonly Size[] = [
  { channels: 64, taps: 8, outputType: 'ci8' },
  { channels: 256, taps: 8, outputType: 'ci8' },
  { channels: 1024, taps: 8, outputType: 'ci8' },
  { channels: 256, taps: 8, outputType: 'ci4' },
  { channels: 256, taps: 8, outputType: 'cf32' },
];

const INPUTS = 32;
const WINDOW = 256;
/** Number of windows in the commands' own blocks (stages/channels.ts). */
const windowsOf = ({ channels }: Size, { kind }: HostBackend): number =>
  kind === 'reference' ? 1 : Math.max(1, Math.round(2 ** 23 / (INPUTS * channels * WINDOW)));

export const kurtosisBench: KernelBench = {
  kernel: 'kurtosis',
  cases: (backend) => (backend.kind === 'cuda' ? cudaKurtosisCases(backend) : hostCases(backend)),
};

const hostCases = (backend: HostBackend): BenchCase[] =>
  sizes
    .filter(({ channels }) => backend.kind === 'cpu' || channels === 64)
    .map((size) => ({
      parameters: {
        ...size,
        inputs: INPUTS,
        window: WINDOW,
        spectra: WINDOW * windowsOf(size, backend),
      },
      unit: 'Gsamples/s',
      scale: 1e9,
      prepare: (closers) => prepare(size, backend, closers),
    }));

async function prepare(size: Size, backend: HostBackend, closers: Closers): Promise<PreparedCase> {
  const { channels, outputType } = size;
  const samples = WINDOW * windowsOf(size, backend) * channels;
  const blocksARun = backend.kind === 'reference' ? 1 : Math.max(LEAST_BLOCKS, 4 * threadsOf(backend));
  const polarisations = 2;
  const plan = planChannelise({
    ...size,
    inputs: INPUTS,
    polarisations,
    inputType: 'ci8',
    blockSamples: samples,
  });
  const voltages = allocateVoltages('ci8', INPUTS, samples);
  const random = randomStream(1, 'bench');
  for (let n = 0; n < voltages.length; n++)
    voltages[n] = n < SEEDED ? 20 * random.gaussian() : voltages[n - SEEDED];
  const block = { type: 'ci8', inputs: INPUTS, samples, voltages, gaps: [], start: instant(0) } as const;
  const source = { start: instant(0), sampleRateHz: samples, polarisations } as const;
  const channelising = { backend, plan, source, clock: { cutAfter: () => Infinity } };
  // As in the commands, one for each contestant.
  const flagged = closers.keep(
    chain(
      await prepareChannelise({ ...channelising, powers: WINDOW }),
      await prepareKurtosis(
        { type: outputType, channels, inputs: INPUTS, polarisations },
        { backend, kurtosis: { spectraPerWindow: WINDOW }, flaggedInputs: undefined },
      ),
    ),
  );
  const alone = closers.keep(await prepareChannelise(channelising));
  const through = (stage: Stage<VoltageBlock, TimedSpectra>): (() => Promise<number>) => {
    // A block lasts a second, so that each starts at a full second.
    let second = 0;
    return async () => {
      for (let n = 0; n < blocksARun; n++) await stage.push({ ...block, start: instant(second++) }, ignore);
      await stage.flush(ignore);
      return blocksARun * INPUTS * samples;
    };
  };
  const ceiling: Contestant & { readonly title: string } =
    backend.kind === 'cpu' ? cpuCeilings(backend).floats() : scriptCeiling();
  return {
    ours: { run: through(flagged) },
    ceiling: {
      title: ceiling.title,
      run: async () => {
        const done: Work = await ceiling.run();
        const perSample = 4 * size.taps + 5 * Math.log2(channels);
        return typeof done === 'number' ? done / perSample : { ...done, work: done.work / perSample };
      },
    },
    peer: {
      name: `the channeliser alone, on ${threadsOf(backend)} thread${threadsOf(backend) === 1 ? '' : 's'}`,
      run: through(alone),
    },
  };
}

/** The last block of a run is tested while nothing is filtered: enough blocks to make that negligible. */
const LEAST_BLOCKS = 16;
const ignore = (): Promise<void> => Promise.resolve();

/** Period of the noise: a prime, so that inputs differ. */
const SEEDED = 1_000_003;
