/**
 * Spectral kurtosis on a card: sums and zeros there, windows judged by the host, which the card waits for. So it is timed by the
 * wall, from the filter's launch until the card is idle; the peer is the filter alone, timed alike.
 */
import { prepareCeilings } from '../backend/cuda/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { preparePlainCeilings } from '../backend/cuda/plain-ceilings.js';
import { planChannelise } from '../channelise/index.js';
import { prepareCudaChanneliser } from '../channelise/on-card.js';
import { spectraSizeBytes, voltageSizeBytes, type SpectraType } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { KurtosisTally, planKurtosis, prepareFlagger } from '../kurtosis/index.js';
import type { BenchCase, PreparedCase } from './bench.js';
import { cardContestant, SECONDS_PER_TURN } from './correlate-cuda.js';

interface Size {
  readonly channels: number;
  readonly taps: number;
  readonly outputType: SpectraType;
}

const sizes: readonly Size[] = [
  ...[64, 256, 1024, 4096].map((channels) => ({ channels, taps: 8, outputType: 'ci8' as const })),
  { channels: 1024, taps: 8, outputType: 'ci4' },
  { channels: 1024, taps: 8, outputType: 'cf32' },
];
const INPUTS = 66;
const SAMPLES = 2 ** 28;
const WINDOW = 256;
const inputType = 'ci8' as const;

const spectraOf = ({ channels }: Size): number => Math.floor(SAMPLES / INPUTS / channels / WINDOW) * WINDOW;

export const cudaKurtosisCases = (backend: CudaBackend): BenchCase[] =>
  sizes.map((size) => ({
    parameters: { ...size, inputs: INPUTS, window: WINDOW, spectra: spectraOf(size) },
    unit: 'Gsamples/s',
    scale: 1e9,
    secondsPerTurn: SECONDS_PER_TURN,
    prepare: (closers) => prepare(backend, size, closers),
  }));

async function prepare(backend: CudaBackend, size: Size, closers: Closers): Promise<PreparedCase> {
  const { session } = backend;
  const { channels, taps, outputType } = size;
  const spectra = spectraOf(size);
  const samples = (spectra + taps - 1) * channels;
  const options = { channels, taps, inputType, outputType, inputs: INPUTS, polarisations: 2 as const };
  // Every byte is equally likely, which is louder than any sky (channelise-cuda.ts).
  const usual = planChannelise({ ...options, blockSamples: samples }).gains;
  const gains = typeof usual === 'number' ? usual / 4 : usual;
  const plan = planChannelise({ ...options, gains, blockSamples: samples });
  const channeliser = closers.keep(await prepareCudaChanneliser(plan, backend));
  const out = closers.keep(backend.allocateSpectra(plan.output));
  const pitchBytes = Math.ceil((samples * voltageSizeBytes(inputType) + 16) / 128) * 128;
  const voltages = closers.keep(session.allocate('voltages', INPUTS * pitchBytes));
  const random = closers.keep(await prepareCeilings(backend));
  random.fill(voltages.pointer, INPUTS * pitchBytes, channels);
  const judging = planKurtosis({
    ...{ type: outputType, channels, inputs: INPUTS, polarisations: 2, spectraPerWindow: WINDOW },
  });
  const flagger = closers.keep(await prepareFlagger(judging, backend));
  const tally = new KurtosisTally(judging);
  const idle = closers.keep(session.createEvent());
  const work = INPUTS * spectra * channels;
  const filter = (): void => {
    channeliser.filter({ pointer: voltages.pointer, pitchBytes }, spectra, out);
  };
  const untilIdle = async (): Promise<number> => {
    idle.record(session.streams.compute);
    await idle.passed();
    return work;
  };
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  const bytesPerSample = voltageSizeBytes(inputType) + spectraSizeBytes(outputType);
  return {
    ours: {
      run: async () => {
        filter();
        tally.add(await flagger.run(out), 0);
        return untilIdle();
      },
    },
    ceiling: {
      title: 'a copy of the samples, as bytes in and out',
      ...cardContestant(session, ceilings.copy, ceilings.copyBytes / bytesPerSample),
    },
    peer: {
      name: 'the filter alone',
      run: () => {
        filter();
        return untilIdle();
      },
    },
  };
}
