/**
 * The beamformer over sizes: detected and averaged. The peer is OpenBLAS's matrix product, including conversion to
 * floats.
 */
import type { HostBackend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { prepareCeilings } from '../backend/cuda/ceilings.js';
import { planBeams, prepareBeamformer, type WeightType } from '../beamform/index.js';
import type { SpectraType } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { randomStream } from '../core/random.js';
import { prepareCudaBeamformer } from '../beamform/on-card.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import { cardContestant, productsAlone } from './correlate-cuda.js';
import { noiseSpectra } from './noise.js';
import { callPeer, openblasOn, type Peers } from './peers.js';

interface Size {
  readonly beams: number;
  /** For one polarisation. */
  readonly inputs: number;
  readonly type: SpectraType;
  readonly weights: WeightType;
}

const SAMPLES = 1024;
const sizes: readonly Size[] = [
  ...[4, 16, 64, 256].map((beams) => ({ beams, inputs: 256, type: 'ci8', weights: 'ci8' }) as const),
  { beams: 64, inputs: 64, type: 'ci8', weights: 'ci8' },
  { beams: 64, inputs: 512, type: 'ci8', weights: 'ci8' },
  { beams: 64, inputs: 256, type: 'ci4', weights: 'ci8' },
  { beams: 64, inputs: 256, type: 'ci8', weights: 'cf32' },
];

/** A complex multiply-add is 8 operations. */
const operationsPerChannel = ({ beams, inputs }: Size): number => 8 * beams * inputs * SAMPLES;
/** For one thread, a few milliseconds of work. */
const operationsPerThread = { reference: 1e8, cpu: 4e9 } satisfies Record<HostBackend['kind'], number>;
const MOST_CHANNELS = 64;

export const beamsBench: KernelBench = {
  kernel: 'beams',
  cases: (backend) =>
    backend.kind === 'cuda'
      ? cudaCases(backend)
      : sizes
          .filter(
            (size) => backend.kind === 'cpu' || operationsPerChannel(size) <= operationsPerThread.reference,
          )
          .map((size): BenchCase => {
            const wanted =
              (threadsOf(backend) * operationsPerThread[backend.kind]) / operationsPerChannel(size);
            const channels = Math.max(1, Math.min(Math.round(wanted), MOST_CHANNELS));
            return {
              parameters: { ...size, samples: SAMPLES, channels },
              unit: 'TOPS',
              scale: 1e12,
              prepare: (closers, peers) => prepare(size, channels, backend, closers, peers),
            };
          }),
};

async function prepare(
  size: Size,
  channels: number,
  backend: HostBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const { beams, inputs, type, weights: kind } = size;
  const random = randomStream(1, 'bench beams');
  const shape = { type, channels, inputs, capacity: SAMPLES };
  const { block, spectra } = await noiseSpectra(backend, shape, closers);
  const plan = planBeams({ stations: inputs, polarisations: 1, channels, type, beams, weights: kind });
  const former = closers.keep(await prepareBeamformer(plan, backend));
  const weights = Int8Array.from({ length: 2 * channels * beams * inputs }, () => random.below(255) - 127);
  former.setWeights(kind === 'ci8' ? weights : Float32Array.from(weights));
  const powers = new Float64Array(beams * channels);
  const bins = { detection: 'I', spectraPerBin: SAMPLES, offset: 0, bins: 1 } as const;
  const work = channels * operationsPerChannel(size);
  return {
    ours: {
      run: async () => {
        await former.powers(block, bins, powers);
        return work;
      },
    },
    ceiling: hostCeiling(backend, 1, kind === 'cf32' ? 'floats' : 'integers'),
    peer:
      peers && type === 'ci8'
        ? openblas(peers, backend, { spectra: spectra as Int8Array, weights }, channels, size)
        : undefined,
  };
}

function openblas(
  peers: Peers,
  backend: HostBackend,
  { spectra, weights }: { readonly spectra: Int8Array; readonly weights: Int8Array },
  channels: number,
  { beams, inputs }: Size,
): PreparedCase['peer'] {
  const form = peers.bind(
    'openblas',
    'void peer_openblas_beams(int64_t channels, int64_t beams, int64_t inputs, int64_t samples, int32_t threads, ' +
      'const int8_t *spectra, const float *weights, float *floats, float *voltages, double *powers)',
  );
  const threads = threadsOf(backend);
  const core = openblasOn(peers, threads);
  if (!form || core === undefined) return undefined;
  const ours = Float32Array.from(weights);
  const floats = new Float32Array(inputs * SAMPLES * 2);
  const voltages = new Float32Array(beams * SAMPLES * 2);
  const powers = new Float64Array(beams * channels);
  return {
    name: `OpenBLAS cgemm (${core})`,
    run: async () => {
      await callPeer(
        form,
        channels,
        beams,
        inputs,
        SAMPLES,
        threads,
        spectra,
        ours,
        floats,
        voltages,
        powers,
      );
      return channels * operationsPerChannel({ beams, inputs, type: 'ci8', weights: 'ci8' });
    },
  };
}

const CARD_SAMPLES = 8192;
/** Much larger than the L2 cache. */
const CARD_BYTES = 2 ** 29;
const cardSizes = [
  ...[16, 64, 128, 256].map((beams) => ({ beams, stations: 512, polarisations: 1 }) as const),
  { beams: 64, stations: 256, polarisations: 2 },
] as const;

/** On a GPU, timed by GPU events: beams detected and averaged over each block. */
const cudaCases = (backend: CudaBackend): BenchCase[] =>
  cardSizes.map(({ beams, stations, polarisations }): BenchCase => {
    const inputs = stations * polarisations;
    const channels = CARD_BYTES / (inputs * CARD_SAMPLES * 2);
    return {
      parameters: {
        beams,
        stations,
        polarisations,
        type: 'ci8',
        weights: 'ci8',
        samples: CARD_SAMPLES,
        channels,
      },
      unit: 'TOPS',
      scale: 1e12,
      prepare: async (closers) => {
        const { session } = backend;
        const plan = planBeams({
          stations,
          polarisations,
          channels,
          type: 'ci8',
          beams,
          weights: 'ci8',
        });
        const block = closers.keep(
          backend.allocateSpectra({ type: 'ci8', channels, inputs, capacity: CARD_SAMPLES }),
        );
        const ceilings = closers.keep(await prepareCeilings(backend));
        ceilings.fill(block.pointer, block.pitchBytes * inputs * channels, beams);
        block.doneWriting(session.streams.compute, CARD_SAMPLES, []);
        const former = closers.keep(await prepareCudaBeamformer(plan, backend));
        const random = randomStream(1, 'bench beams on a card');
        former.setWeights(
          Int8Array.from({ length: 2 * channels * beams * inputs }, () => random.below(255) - 127),
        );
        await former.weighed();
        const bins = { detection: 'I', spectraPerBin: CARD_SAMPLES, offset: 0, bins: 1 } as const;
        const launch = (): void => {
          former.launchPowers(block, bins);
        };
        return {
          ours: cardContestant(session, launch, 8 * channels * CARD_SAMPLES * beams * inputs),
          ceiling: productsAlone(backend, ceilings),
        };
      },
    };
  });
