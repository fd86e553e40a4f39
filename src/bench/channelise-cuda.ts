/** The channeliser's kernels on a GPU, timed by GPU events, compared with a copy of the same number of bytes. */
import { prepareCeilings } from '../backend/cuda/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { preparePlainCeilings } from '../backend/cuda/plain-ceilings.js';
import { uploadArray } from '../backend/cuda/transfer.js';
import { INPUT_DELAY, prepareCudaChanneliser, writeDelays } from '../channelise/on-card.js';
import { planChannelise } from '../channelise/index.js';
import { spectraSizeBytes, voltageSizeBytes, type SpectraType, type VoltageType } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import type { BenchCase, PreparedCase } from './bench.js';
import { cardContestant, SECONDS_PER_TURN } from './correlate-cuda.js';
import { benchDelays, MOST_DELAY } from './tracking/delays.js';
import type { Contestant } from './measure.js';

interface Size {
  readonly channels: number;
  readonly taps: number;
  readonly inputType: VoltageType;
  readonly outputType: SpectraType;
  readonly kernels: 'best' | 'general';
  /**
   * Measured with and without: without, rows all begin at one time; with, each is read from its own delay, with phases.
   */
  readonly delays?: 'tracked';
}

const bytes8 = { inputType: 'ci8', outputType: 'ci8', kernels: 'best' } as const;
const sizes: readonly Size[] = [
  ...[1024, 4096].flatMap((channels) => [8, 16].map((taps) => ({ channels, taps, ...bytes8 }))),
  ...[1024, 4096].map((channels) => ({ channels, taps: 8, ...bytes8, kernels: 'general' as const })),
  ...[64, 132, 256, 1000, 1536, 2048, 2100, 32_768].map((channels) => ({ channels, taps: 8, ...bytes8 })),
  { channels: 1024, taps: 8, ...bytes8, inputType: 'i8' },
  { channels: 1024, taps: 8, ...bytes8, inputType: 'cf32', outputType: 'cf32' },
  ...[64, 256, 1000, 1024, 4096, 32_768].map((channels) => ({
    channels,
    taps: 8,
    ...bytes8,
    delays: 'tracked' as const,
  })),
];
/** Much larger than the L2 cache, and enough inputs to keep every multiprocessor busy to the end. */
const INPUTS = 66;
const SAMPLES = 2 ** 28;

export const cudaChanneliseCases = (backend: CudaBackend): BenchCase[] =>
  sizes.map((size) => ({
    parameters: { ...size, inputs: INPUTS },
    unit: 'Gsamples/s',
    scale: 1e9,
    secondsPerTurn: SECONDS_PER_TURN,
    prepare: (closers) => prepare(backend, size, closers),
  }));

async function prepare(backend: CudaBackend, size: Size, closers: Closers): Promise<PreparedCase> {
  const { session } = backend;
  const { channels, taps, inputType, outputType, kernels, delays } = size;
  const perSpectrum = inputType.startsWith('c') ? channels : 2 * channels;
  // Whole tiles of every kernel.
  const spectra = Math.max(64, Math.floor(SAMPLES / INPUTS / perSpectrum / 64) * 64);
  const samples = (spectra + taps - 1) * perSpectrum;
  const options = { channels, taps, inputType, outputType, inputs: INPUTS, polarisations: 1 as const };
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
  const voltages = closers.keep(session.allocate('voltages', INPUTS * pitchBytes));
  const random = closers.keep(await prepareCeilings(backend));
  random.fill(voltages.pointer, INPUTS * pitchBytes, channels);
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  const work = INPUTS * spectra * perSpectrum;
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
  const table = new DataView(new ArrayBuffer(INPUTS * INPUT_DELAY.bytes));
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
