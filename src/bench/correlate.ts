/** The X-engine over sizes; the peer is OpenBLAS, including conversion to floats. */
import type { SpectraCAT, SpectraType } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { planCorrelation, prepareCorrelator } from '../correlate/index.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import { cudaCorrelateCases } from './correlate-cuda.js';
import type { HostBackend } from '../backend/backend.js';
import { noiseSpectra } from './noise.js';
import { callPeer, openblasOn, type Peers } from './peers.js';

interface Size {
  readonly stations: number;
  readonly samples: number;
  readonly type: SpectraType;
}

const sizes: readonly Size[] = [
  ...[16, 32, 64, 128, 256, 512].map((stations) => ({ stations, samples: 1024, type: 'ci8' as const })),
  ...[64, 256, 4096].map((samples) => ({ stations: 128, samples, type: 'ci8' as const })),
  ...(['ci4', 'cf32'] as const).map((type) => ({ stations: 128, samples: 1024, type })),
];

/** Enough channels for a measurable call: operations by one thread in a few milliseconds. */
const operationsPerThread = { reference: 2e8, cpu: 8e9 } satisfies Record<HostBackend['kind'], number>;
/** For one thread; the call of a small array stays short. */
const MOST_CHANNELS = 64;
const POLARISATIONS = 2;
/** Useful operations only: a complex multiply-add is 8, on the lower triangle with its diagonal. */
export const operationsPerChannel = ({ stations, samples }: Size): number => {
  const inputs = stations * POLARISATIONS;
  return (8 * samples * inputs * (inputs + 1)) / 2;
};

export const correlateBench: KernelBench = {
  kernel: 'correlate',
  cases: (backend) => (backend.kind === 'cuda' ? cudaCorrelateCases(backend) : hostCases(backend)),
};

const hostCases = (backend: HostBackend): BenchCase[] =>
  sizes
    .filter(
      (size) => backend.kind !== 'reference' || operationsPerChannel(size) <= operationsPerThread.reference,
    )
    .map((size) => correlateCase(size, backend));

export function correlateCase(size: Size, backend: HostBackend): BenchCase {
  const threads = threadsOf(backend);
  const channels = Math.round((threads * operationsPerThread[backend.kind]) / operationsPerChannel(size));
  const most = Math.max(1, Math.min(channels, MOST_CHANNELS * threads));
  return {
    parameters: { ...size, polarisations: POLARISATIONS, channels: most },
    unit: 'TOPS',
    scale: 1e12,
    prepare: (closers, peers) => prepare(size, most, backend, closers, peers),
  };
}

async function prepare(
  size: Size,
  channels: number,
  backend: HostBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const { stations, samples, type } = size;
  const inputs = stations * POLARISATIONS;
  const shape = { type, channels, inputs, capacity: samples };
  const { block, spectra } = await noiseSpectra(backend, shape, closers);
  const plan = planCorrelation({ stations, polarisations: POLARISATIONS, channels, type });
  const correlator = closers.keep(await prepareCorrelator(plan, backend));
  const work = channels * operationsPerChannel(size);
  return {
    ours: {
      run: async () => {
        await correlator.accumulate(block);
        return work;
      },
    },
    ceiling: hostCeiling(backend, 1, type === 'cf32' ? 'floats' : 'integers'),
    peer: peers && type === 'ci8' ? openblas(peers, backend, spectra, channels, size) : undefined,
  };
}

function openblas(
  peers: Peers,
  backend: HostBackend,
  spectra: SpectraCAT,
  channels: number,
  size: Size,
): PreparedCase['peer'] {
  const correlate = peers.bind(
    'openblas',
    'void peer_openblas_correlate(int64_t channels, int64_t inputs, int64_t samples, int32_t threads, ' +
      'const int8_t *spectra, float *floats, float *sums)',
  );
  const threads = threadsOf(backend);
  const core = openblasOn(peers, threads);
  if (!correlate || core === undefined) return undefined;
  const inputs = size.stations * POLARISATIONS;
  const floats = new Float32Array(inputs * size.samples * 2);
  const sums = new Float32Array(channels * inputs * inputs * 2);
  return {
    name: `OpenBLAS cherk (${core})`,
    run: async () => {
      await callPeer(correlate, channels, inputs, size.samples, threads, spectra, floats, sums);
      return channels * operationsPerChannel(size);
    },
  };
}
