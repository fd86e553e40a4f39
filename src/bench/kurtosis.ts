/** The F-engine with interference taken out by spectral kurtosis; the peer is the same without. */
import type { Backend } from '../backend/backend.js';
import { cpuCeilings } from '../backend/cpu/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { planChannelise, prepareChanneliser } from '../channelise/index.js';
import { allocateVoltages, type SpectraType } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { KurtosisTally, planKurtosis, prepareFlagger } from '../kurtosis/index.js';
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
/** As many windows as the commands' own blocks hold (pipeline/channels.ts). */
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
  const polarisations = 2;
  const plan = planChannelise({
    ...{ ...size, inputs: INPUTS, polarisations, inputType: 'ci8', blockSamples: samples },
  });
  const voltages = allocateVoltages('ci8', INPUTS, samples);
  const random = randomStream(1, 'bench');
  for (let n = 0; n < voltages.length; n++)
    voltages[n] = n < SEEDED ? 20 * random.gaussian() : voltages[n - SEEDED];
  const block = { type: 'ci8', inputs: INPUTS, samples, voltages, gaps: [], start: instant(0) } as const;
  const out = closers.keep(backend.allocateSpectra({ ...plan.output, powers: true }));
  const alone = closers.keep(backend.allocateSpectra(plan.output));
  const channeliser = closers.keep(await prepareChanneliser(plan, backend));
  const judging = planKurtosis({
    type: outputType,
    channels,
    inputs: INPUTS,
    polarisations,
    spectraPerWindow: WINDOW,
  });
  const flagger = closers.keep(await prepareFlagger(judging, backend));
  const tally = new KurtosisTally(judging);
  const ceiling: Contestant & { readonly title: string } =
    backend.kind === 'cpu' ? cpuCeilings(backend).floats() : scriptCeiling();
  return {
    ours: {
      run: async () => {
        await channeliser.run(block, out);
        tally.add(await flagger.run(out), 0);
        return INPUTS * samples;
      },
    },
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
      run: async () => {
        await channeliser.run(block, alone);
        return INPUTS * samples;
      },
    },
  };
}

/** Numbers before noise begins again: a prime, so that inputs differ. */
const SEEDED = 1_000_003;
