/**
 * Spectral kurtosis on a GPU: sums and zeroing there, decisions concurrently on the host. Therefore wall-clock time is
 * measured, over a run of blocks from the first launch until the GPU is idle; the peer is the filter alone, as many
 * blocks without memory for powers, timed the same way.
 */
import { prepareCeilings } from '../backend/cuda/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { DeviceMemory } from '../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../backend/cuda/spectra.js';
import { preparePlainCeilings } from '../backend/cuda/plain-ceilings.js';
import { planChannelise } from '../channelise/index.js';
import { prepareCudaChanneliser } from '../channelise/on-card.js';
import { spectraSizeBytes, voltagesAT, voltageSizeBytes, type SpectraType } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import type { Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { KurtosisTally, planKurtosis, prepareFlagger, type Decision } from '../kurtosis/index.js';
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

/** Blocks in memory at once, as many as the flagger starts: two filtered, one downloaded, four tested, one awaited. */
const BLOCKS = 8;
/** Long enough that the final wait for the GPU is a small part. */
const BLOCKS_A_RUN = 96;
const SENT_A_RUN = 8;
/** Polls, so that the wait ends when the GPU is idle, and not up to a millisecond later. */
const EAGER_POLLS = 20_000;

/** Voltages already on the GPU; and voltages uploaded from the host, as in the chain. */
const PARTS = ['on the card', 'from the host'] as const;
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
  // All byte values are equally likely, which is stronger than any sky (channelise-cuda.ts).
  const nominal = planChannelise({ ...options, blockSamples: samples }).gains;
  const gains = typeof nominal === 'number' ? nominal / 4 : nominal;
  const plan = planChannelise({ ...options, gains, blockSamples: samples });
  const powers = WINDOW;
  const blocksOf = (asked: { readonly powers?: number }): CudaSpectraBlock[] =>
    Array.from({ length: BLOCKS }, () => closers.keep(backend.allocateSpectra({ ...plan.output, ...asked })));
  const blocks = blocksOf({ powers });
  // The filter alone computes no powers.
  const plain = blocksOf({});
  const pitchBytes = Math.ceil((samples * voltageSizeBytes(inputType) + 16) / 128) * 128;
  const voltages = closers.keep(session.allocate('voltages', INPUTS * pitchBytes));
  const random = closers.keep(await prepareCeilings(backend));
  random.fill(voltages.pointer, INPUTS * pitchBytes, channels);
  const kurtosis = planKurtosis({
    type: outputType,
    channels,
    inputs: INPUTS,
    polarisations: 2,
    spectraPerWindow: WINDOW,
  });
  const channeliser = closers.keep(await prepareCudaChanneliser(plan, backend, { powers }));
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  const work = INPUTS * spectra * channels;
  const filter = (block: CudaSpectraBlock): void => {
    channeliser.filter({ pointer: voltages.pointer, pitchBytes }, spectra, block);
  };
  const flagger = closers.keep(await prepareFlagger(kurtosis, backend, { blocks: BLOCKS }));
  const tally = new KurtosisTally(kurtosis);
  const idle = closers.keep(session.createEvent());
  const untilIdle = async (): Promise<number> => {
    idle.record(session.streams.compute);
    await idle.passed(EAGER_POLLS);
    return BLOCKS_A_RUN * work;
  };
  if (part === 'from the host') {
    const given = fromHost(backend, voltages, samples, closers);
    return {
      ours: {
        run: async () => {
          for (let n = 0; n < SENT_A_RUN; n++) {
            const block = blocks[n % BLOCKS];
            // It is uploaded while the host tests the previous block, as in the chain.
            const begun = channeliser.run(given.block, block).then(() => {
              flagger.begin(block);
            });
            if (n > 0) tally.add(await flagger.finish(), 0);
            await begun;
          }
          tally.add(await flagger.finish(), 0);
          await untilIdle();
          return SENT_A_RUN * INPUTS * samples;
        },
      },
      ceiling: {
        title: 'the bus alone',
        ...cardContestant(session, given.copy, INPUTS * samples),
      },
      peer: {
        name: 'the filter alone',
        run: async () => {
          for (let n = 0; n < SENT_A_RUN; n++) await channeliser.run(given.block, plain[n % BLOCKS]);
          await untilIdle();
          return SENT_A_RUN * INPUTS * samples;
        },
      },
    };
  }
  const bytesPerSample = voltageSizeBytes(inputType) + spectraSizeBytes(outputType);
  return {
    ours: {
      run: async () => {
        const decisions: Promise<Decision>[] = [];
        for (let n = 0; n < BLOCKS_A_RUN; n++) {
          const block = blocks[n % BLOCKS];
          if (n >= BLOCKS) tally.add(await decisions[n - BLOCKS], 0);
          filter(block);
          flagger.begin(block);
          decisions.push(flagger.finish());
        }
        for (const last of decisions.slice(-BLOCKS)) tally.add(await last, 0);
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
        for (let n = 0; n < BLOCKS_A_RUN; n++) filter(plain[n % BLOCKS]);
        return untilIdle();
      },
    },
  };
}

/** The voltages in locked host memory, as in a recorder's ring. */
function fromHost(
  { session }: CudaBackend,
  voltages: DeviceMemory,
  samples: number,
  closers: Closers,
): { readonly block: VoltageBlock; readonly copy: () => void } {
  const bytes = INPUTS * samples * voltageSizeBytes(inputType);
  const onHost = closers.keep(session.allocatePinned('voltages', bytes));
  const { handle } = session.streams.compute;
  session.call('cuMemcpyDtoHAsync', onHost.pointer, voltages.pointer, bytes, handle);
  session.call('cuStreamSynchronize', handle);
  const made = voltagesAT(new Int8Array(onHost.buffer, 0, bytes), inputType, INPUTS, samples);
  return {
    block: { type: inputType, inputs: INPUTS, samples, voltages: made, gaps: [], start: instant(0) },
    copy: () => {
      session.call('cuMemcpyHtoDAsync', voltages.pointer, onHost.pointer, bytes, handle);
    },
  };
}
