/** The F-engine over sizes; the peer is a vectorised filter and FFTW, without rounding or corner turn. */
import type { Backend, HostBackend } from '../backend/backend.js';
import { prepareCeilings, preparePlainCeilings } from '../backend/cuda/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { uploadArray } from '../backend/cuda/transfer.js';
import {
  allocateVoltages,
  isComplexVoltage,
  spectraSizeBytes,
  voltageSizeBytes,
  type SpectraType,
  type VoltagesAT,
  type VoltageType,
} from '../core/axes.js';
import { closes, type Closable, type Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { INPUT_DELAY, prepareCudaChanneliser, writeDelays } from '../channelise/on-card.js';
import { planChannelise, prepareChanneliser, type ChannelisePlan } from '../channelise/index.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import { cardContestant } from './correlate-cuda.js';
import { benchDelays, MOST_DELAY } from './tracking/delays.js';
import type { Contestant } from './measure.js';
import { callPeer, type Peers } from './peers.js';

interface Size {
  readonly channels: number;
  readonly taps: number;
  readonly inputType: VoltageType;
  readonly outputType: SpectraType;
  /** Measured with and without: with, each input is read from its own delay, with phases. */
  readonly delays?: 'tracked';
}

const bytes = { inputType: 'ci8', outputType: 'ci8' } as const;
const sizes: readonly Size[] = [
  ...[8, 16].map((taps) => ({ channels: 1024, taps, ...bytes })),
  ...[64, 256, 512, 2048, 4096, 16384, 65536].map((channels) => ({ channels, taps: 8, ...bytes })),
  ...[1, 4, 32, 64].map((taps) => ({ channels: 1024, taps, ...bytes })),
  // 2³·5³, 2⁹·3, 2²·3·5²·7, a prime
  ...[1000, 1536, 2100, 1009].map((channels) => ({ channels, taps: 8, ...bytes })),
  ...(['i8', 'ci16', 'cf32'] as const).map((inputType) => ({ channels: 1024, taps: 8, ...bytes, inputType })),
  ...(['ci4', 'cf32'] as const).map((outputType) => ({ channels: 1024, taps: 8, ...bytes, outputType })),
  ...[64, 256, 1000, 1024, 4096].map((channels) => ({
    channels,
    taps: 8,
    ...bytes,
    delays: 'tracked' as const,
  })),
  { channels: 1024, taps: 8, ...bytes, inputType: 'i8', delays: 'tracked' },
  { channels: 1024, taps: 8, ...bytes, outputType: 'cf32', delays: 'tracked' },
];

const INPUTS = 32;
const POLARISATIONS = 2;
/** A few milliseconds of work for each thread, and at least sixteen spectra, which fill the lanes of a vector. */
const samplesPerThread = { reference: 2 ** 15, cpu: 2 ** 22 } satisfies Record<HostBackend['kind'], number>;
/** A quarter of a gigabyte in and out. */
const MOST_SAMPLES = 2 ** 26;
const spectraOf = ({ channels }: Size, backend: HostBackend): number => {
  const samples = Math.min(samplesPerThread[backend.kind] * threadsOf(backend), MOST_SAMPLES);
  return Math.max(backend.kind === 'cpu' ? 16 : 1, Math.round(samples / (INPUTS * channels)));
};

/** A complex sample of each tap is two multiply-adds; the conventional count of the transform is 5 log₂ C. */
function operationsPerSample({ channels, taps, inputType }: Size): number {
  return isComplexVoltage(inputType)
    ? 4 * taps + 5 * Math.log2(channels)
    : 2 * taps + 2.5 * Math.log2(2 * channels);
}

export const channeliseBench: KernelBench = {
  kernel: 'channelise',
  cases: (backend) => (backend.kind === 'cuda' ? cudaCases(backend) : hostCases(backend)),
};

const hostCases = (backend: HostBackend): BenchCase[] =>
  sizes
    .filter(({ channels }) => backend.kind !== 'reference' || INPUTS * channels <= samplesPerThread.reference)
    .map((size) => channeliseCase(size, backend));

export const channeliseCase = (size: Size, backend: HostBackend): BenchCase => ({
  parameters: { ...size, inputs: INPUTS, spectra: spectraOf(size, backend) },
  unit: 'Gsamples/s',
  scale: 1e9,
  prepare: (closers, peers) => prepare(size, backend, closers, peers),
});

async function prepare(
  size: Size,
  backend: HostBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const spectra = spectraOf(size, backend);
  const perSpectrum = isComplexVoltage(size.inputType) ? size.channels : 2 * size.channels;
  const samples = spectra * perSpectrum;
  const { delays, ...shape } = size;
  const options = { ...shape, inputs: INPUTS, polarisations: POLARISATIONS, blockSamples: samples } as const;
  const plain = planChannelise(options);
  const plan = delays ? planChannelise({ ...options, mostDelaySamples: MOST_DELAY }) : plain;
  const voltages = noise(size.inputType, samples);
  const block = {
    type: size.inputType,
    inputs: INPUTS,
    samples,
    voltages,
    gaps: [],
    start: instant(0),
  };
  const out = closers.keep(backend.allocateSpectra(plan.output));
  const channeliser = closers.keep(await prepareChanneliser(plan, backend));
  const run = delays ? [benchDelays(plan)] : [];
  const peer = delays
    ? { name: 'the same without delays', ...(await undelayed()) }
    : peers && size.inputType === 'ci8'
      ? fftw(peers, backend, plan, voltages, samples)
      : undefined;
  if (peer) closers.keep(peer);
  return {
    ours: {
      run: async () => {
        await channeliser.run(block, out, ...run);
        return INPUTS * samples;
      },
    },
    ceiling: hostCeiling(backend, operationsPerSample(size)),
    peer,
  };

  async function undelayed(): Promise<Contestant & Closable> {
    const other = await prepareChanneliser(plain, backend);
    return {
      run: async () => {
        await other.run(block, out);
        return INPUTS * samples;
      },
      close: () => other.close(),
    };
  }
}

/** Noise of a sixth of full scale, as from a well-adjusted receiver. */
function noise(type: VoltageType, samples: number): VoltagesAT {
  const voltages = allocateVoltages(type, INPUTS, samples);
  const level = { i8: 20, ci8: 20, i16: 5000, ci16: 5000, f32: 0.15, cf32: 0.15 } satisfies Record<
    VoltageType,
    number
  >;
  const stream = randomStream(1, 'bench');
  const some = Float64Array.from({ length: 65_537 }, () => level[type] * stream.gaussian());
  for (let n = 0; n < voltages.length; n++) voltages[n] = some[n % some.length];
  return voltages;
}

type FftwPeer = Contestant & Closable & { readonly name: string };

function fftw(
  peers: Peers,
  backend: Backend,
  plan: ChannelisePlan,
  voltages: VoltagesAT,
  samples: number,
): FftwPeer | undefined {
  const version = peers.bind('fftw_channelise', 'const char *peer_fftw_version()');
  const open = peers.bind(
    'fftw_channelise',
    'void *peer_fftw_open(int64_t channels, int64_t taps, const double *values, int32_t threads)',
  );
  const run = peers.bind(
    'fftw_channelise',
    'void peer_fftw_run(void *handle, const int8_t *voltages, int64_t inputs, int64_t samples)',
  );
  const close = peers.bind('fftw_channelise', 'void peer_fftw_close(void *handle)');
  const made = samples / plan.channels - plan.taps + 1;
  if (!version || !open || !run || !close || made < 1) return undefined;
  const handle = open(plan.channels, plan.taps, plan.prototype, threadsOf(backend));
  return {
    name: `vectorised filter and FFTW, neither rounded nor turned (${String(version())})`,
    run: async () => {
      await callPeer(run, handle, voltages, INPUTS, samples);
      return INPUTS * made * plan.channels;
    },
    close: closes(() => {
      close(handle);
    }),
  };
}

interface CardSize extends Size {
  readonly kernels: 'best' | 'general';
}

const onCard = { ...bytes, kernels: 'best' } as const;
const cardSizes: readonly CardSize[] = [
  ...[1024, 4096].flatMap((channels) => [8, 16].map((taps) => ({ channels, taps, ...onCard }))),
  ...[1024, 4096].map((channels) => ({ channels, taps: 8, ...onCard, kernels: 'general' as const })),
  ...[64, 132, 256, 1000, 1536, 2048, 2100, 32_768].map((channels) => ({ channels, taps: 8, ...onCard })),
  { channels: 1024, taps: 8, ...onCard, inputType: 'i8' },
  { channels: 1024, taps: 8, ...onCard, inputType: 'cf32', outputType: 'cf32' },
  ...[64, 256, 1000, 1024, 4096, 32_768].map((channels) => ({
    channels,
    taps: 8,
    ...onCard,
    delays: 'tracked' as const,
  })),
];
/** Much larger than the L2 cache, and enough inputs to keep every multiprocessor busy to the end. */
const CARD_INPUTS = 66;
const CARD_SAMPLES = 2 ** 28;

const cudaCases = (backend: CudaBackend): BenchCase[] =>
  cardSizes.map((size) => ({
    parameters: { ...size, inputs: CARD_INPUTS },
    unit: 'Gsamples/s',
    scale: 1e9,
    prepare: (closers) => prepareCard(backend, size, closers),
  }));

/** Timed by GPU events, compared with a copy of the same number of bytes. */
async function prepareCard(backend: CudaBackend, size: CardSize, closers: Closers): Promise<PreparedCase> {
  const { session } = backend;
  const { channels, taps, inputType, outputType, kernels, delays } = size;
  const perSpectrum = inputType.startsWith('c') ? channels : 2 * channels;
  // Whole tiles of every kernel.
  const spectra = Math.max(64, Math.floor(CARD_SAMPLES / CARD_INPUTS / perSpectrum / 64) * 64);
  const samples = (spectra + taps - 1) * perSpectrum;
  const options = { channels, taps, inputType, outputType, inputs: CARD_INPUTS, polarisations: 1 as const };
  // All byte values are equally likely, which is stronger than any sky: a quarter of the nominal gain sets the output
  // level as in operation, so that hardly anything saturates.
  const nominal = planChannelise({ ...options, blockSamples: samples }).gains;
  const gains = typeof nominal === 'number' ? nominal / 4 : nominal;
  const plain = planChannelise({ ...options, gains, blockSamples: samples });
  const plan = delays
    ? planChannelise({ ...options, gains, blockSamples: samples, mostDelaySamples: MOST_DELAY })
    : plain;
  const channeliser = closers.keep(await prepareCudaChanneliser(plan, backend, { kernels }));
  const out = closers.keep(backend.allocateSpectra(plan.output));
  const sampleBytes = voltageSizeBytes(inputType);
  const pitchBytes = Math.ceil(((samples + 2 * MOST_DELAY) * sampleBytes + 16) / 128) * 128;
  const voltages = closers.keep(session.allocate('voltages', CARD_INPUTS * pitchBytes));
  const random = closers.keep(await prepareCeilings(backend));
  random.fill(voltages.pointer, CARD_INPUTS * pitchBytes, channels);
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  const work = CARD_INPUTS * spectra * perSpectrum;
  const bytesPerSample =
    voltageSizeBytes(inputType) + (spectraSizeBytes(outputType) * channels) / perSpectrum;
  const rows = { pointer: voltages.pointer, pitchBytes };
  const ceiling = {
    title: 'a copy of the samples, as bytes in and out',
    ...cardContestant(session, ceilings.copy, ceilings.copyBytes / bytesPerSample),
  };
  const made = (run: () => void): Contestant => cardContestant(session, run, work);
  if (delays === undefined) {
    return {
      ours: made(() => {
        channeliser.filter(rows, spectra, out);
      }),
      ceiling,
    };
  }
  const without = closers.keep(await prepareCudaChanneliser(plain, backend, { kernels }));
  const table = new DataView(new ArrayBuffer(CARD_INPUTS * INPUT_DELAY.bytes));
  writeDelays(table, benchDelays(plan), MOST_DELAY, sampleBytes);
  const uploaded = closers.keep(await uploadArray(session, 'delays', table));
  return {
    ours: made(() => {
      channeliser.filter(rows, spectra, out, uploaded);
    }),
    ceiling,
    peer: {
      name: 'the same without delays',
      ...made(() => {
        without.filter(rows, spectra, out);
      }),
    },
  };
}
