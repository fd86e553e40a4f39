/**
 * Spectral kurtosis on a card: sums, the first look at them and zeros there, what stands out judged by the host meanwhile. So it
 * is timed by the wall, a run of blocks from the first launch until the card is idle; the peer is the filter alone, the same
 * blocks in the same memory, timed alike. The card's own part is timed by the card beside it, for whoever asks where time goes.
 */
import { prepareCeilings } from '../backend/cuda/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { CudaSpectraBlock } from '../backend/cuda/spectra.js';
import { preparePlainCeilings } from '../backend/cuda/plain-ceilings.js';
import { planChannelise } from '../channelise/index.js';
import { prepareCudaChanneliser } from '../channelise/on-card.js';
import { spectraSizeBytes, voltageSizeBytes, type SpectraType } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { KurtosisTally, planKurtosis, prepareFlagger } from '../kurtosis/index.js';
import {
  leaving,
  multiprocessorsBeside,
  prepareCardSums,
  prepareFlaggerBeside,
} from '../kurtosis/on-card.js';
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

/** In memory at once: one filtered, one coming down, one judged. */
const BLOCKS = 3;
/** Until the card is idle: waiting for it is a small part then. */
const BLOCKS_A_RUN = 24;
/** Waiting ends when the card is idle, and not up to a millisecond later. */
const EAGER_POLLS = 20_000;

/** The filter and the flagger in turn, side by side, and the flagger's kernels alone, on all of the card and on their part. */
const PARTS = ['in turn', 'side by side', 'kernels', 'kernels on their part'] as const;
type Part = (typeof PARTS)[number];

const spectraOf = ({ channels }: Size): number => Math.floor(SAMPLES / INPUTS / channels / WINDOW) * WINDOW;

export const cudaKurtosisCases = (backend: CudaBackend): BenchCase[] =>
  sizes.flatMap((size) =>
    PARTS.map((part) => ({
      parameters: { ...size, inputs: INPUTS, window: WINDOW, spectra: spectraOf(size), part },
      unit: 'Gsamples/s',
      scale: 1e9,
      secondsPerTurn: SECONDS_PER_TURN,
      prepare: (closers) => prepare(backend, size, part, closers),
    })),
  );

async function prepare(
  backend: CudaBackend,
  size: Size,
  part: Part,
  closers: Closers,
): Promise<PreparedCase> {
  const { session } = backend;
  const { channels, taps, outputType } = size;
  const spectra = spectraOf(size);
  const samples = (spectra + taps - 1) * channels;
  const options = { channels, taps, inputType, outputType, inputs: INPUTS, polarisations: 2 as const };
  // Every byte is equally likely, which is louder than any sky (channelise-cuda.ts).
  const usual = planChannelise({ ...options, blockSamples: samples }).gains;
  const gains = typeof usual === 'number' ? usual / 4 : usual;
  const plan = planChannelise({ ...options, gains, blockSamples: samples });
  const blocks = Array.from({ length: BLOCKS }, () => closers.keep(backend.allocateSpectra(plan.output)));
  const pitchBytes = Math.ceil((samples * voltageSizeBytes(inputType) + 16) / 128) * 128;
  const voltages = closers.keep(session.allocate('voltages', INPUTS * pitchBytes));
  const random = closers.keep(await prepareCeilings(backend));
  random.fill(voltages.pointer, INPUTS * pitchBytes, channels);
  const judging = planKurtosis({
    ...{ type: outputType, channels, inputs: INPUTS, polarisations: 2, spectraPerWindow: WINDOW },
  });
  const beside = multiprocessorsBeside(judging, session.device);
  const channeliser = closers.keep(await prepareCudaChanneliser(plan, backend));
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  const work = INPUTS * spectra * channels;
  const filter = (block: CudaSpectraBlock, by = channeliser): void => {
    by.filter({ pointer: voltages.pointer, pitchBytes }, spectra, block);
  };
  if (part === 'kernels' || part === 'kernels on their part') {
    filter(blocks[0]);
    const on = part === 'kernels' ? undefined : beside;
    const sums = closers.keep(await prepareCardSums(judging, backend, blocks[0], on));
    return {
      ours: cardContestant(session, sums.launch, work),
      ceiling: {
        title: 'a copy of the spectra, as bytes in',
        ...cardContestant(session, ceilings.copy, ceilings.copyBytes / blockSampleBytes(outputType)),
      },
    };
  }
  const isBeside = part === 'side by side';
  const smaller = isBeside
    ? closers.keep(await prepareCudaChanneliser(plan, leaving(backend, beside)))
    : channeliser;
  const flagger = closers.keep(await (isBeside ? prepareFlaggerBeside : prepareFlagger)(judging, backend));
  const tally = new KurtosisTally(judging);
  const idle = closers.keep(session.createEvent());
  const untilIdle = async (): Promise<number> => {
    idle.record(session.streams.compute);
    await idle.passed(EAGER_POLLS);
    return BLOCKS_A_RUN * work;
  };
  const bytesPerSample = voltageSizeBytes(inputType) + spectraSizeBytes(outputType);
  return {
    ours: {
      run: async () => {
        for (let n = 0; n < BLOCKS_A_RUN; n++) {
          const block = blocks[n % BLOCKS];
          filter(block, smaller);
          flagger.begin(block);
          if (n + 1 >= BLOCKS) tally.add(await flagger.finish(), 0);
        }
        for (let n = 1; n < BLOCKS; n++) tally.add(await flagger.finish(), 0);
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
        for (let n = 0; n < BLOCKS_A_RUN; n++) filter(blocks[n % BLOCKS]);
        return untilIdle();
      },
    },
  };
}

/** As spectra lie on the card. */
const blockSampleBytes = (type: SpectraType): number => (type === 'cf32' ? 8 : 2);
