/** The F-engine with interference flagging by spectral kurtosis; the peer is the same without flagging. */
import type { HostBackend } from '../backend/backend.js';
import { prepareCeilings, preparePlainCeilings } from '../backend/cuda/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { DeviceMemory } from '../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../backend/cuda/spectra.js';
import { planChannelise } from '../channelise/index.js';
import { prepareCudaChanneliser } from '../channelise/on-card.js';
import {
  allocateVoltages,
  spectraSizeBytes,
  voltagesAT,
  voltageSizeBytes,
  type SpectraType,
} from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import type { Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { KurtosisTally, planKurtosis, prepareFlagger, type Decision } from '../kurtosis/index.js';
import { prepareChannelise, prepareKurtosis, type TimedSpectra, chain, type Stage } from '../stages/index.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import { cardContestant } from './correlate-cuda.js';

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
  cases: (backend) => (backend.kind === 'cuda' ? cudaCases(backend) : hostCases(backend)),
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
  return {
    ours: { run: through(flagged) },
    ceiling: hostCeiling(backend, 4 * size.taps + 5 * Math.log2(channels)),
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

const cardSizes: readonly Size[] = [
  ...[64, 256, 1024, 4096].map((channels) => ({ channels, taps: 8, outputType: 'ci8' as const })),
  { channels: 1024, taps: 8, outputType: 'ci4' },
  { channels: 1024, taps: 8, outputType: 'cf32' },
];
const CARD_INPUTS = 66;
const CARD_SAMPLES = 2 ** 28;
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

const spectraOf = ({ channels }: Size): number =>
  Math.floor(CARD_SAMPLES / CARD_INPUTS / channels / WINDOW) * WINDOW;

const cudaCases = (backend: CudaBackend): BenchCase[] =>
  cardSizes.flatMap((size) =>
    PARTS.map((part) => ({
      parameters: { ...size, inputs: CARD_INPUTS, window: WINDOW, spectra: spectraOf(size), part },
      unit: 'Gsamples/s',
      scale: 1e9,
      prepare: (closers) => prepareCard(backend, size, part, closers),
    })),
  );

/**
 * Sums and zeroing on the GPU, decisions concurrently on the host. Therefore wall-clock time is measured, over a run of
 * blocks from the first launch until the GPU is idle; the peer is the filter alone, as many blocks without memory for
 * powers, timed the same way.
 */
async function prepareCard(
  backend: CudaBackend,
  size: Size,
  part: Part,
  closers: Closers,
): Promise<PreparedCase> {
  const { session } = backend;
  const { channels, taps, outputType } = size;
  const spectra = spectraOf(size);
  const samples = (spectra + taps - 1) * channels;
  const options = { channels, taps, inputType, outputType, inputs: CARD_INPUTS, polarisations: 2 as const };
  // All byte values are equally likely, which is stronger than any sky (channelise.ts).
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
  const voltages = closers.keep(session.allocate('voltages', CARD_INPUTS * pitchBytes));
  const random = closers.keep(await prepareCeilings(backend));
  random.fill(voltages.pointer, CARD_INPUTS * pitchBytes, channels);
  const kurtosis = planKurtosis({
    type: outputType,
    channels,
    inputs: CARD_INPUTS,
    polarisations: 2,
    spectraPerWindow: WINDOW,
  });
  const channeliser = closers.keep(await prepareCudaChanneliser(plan, backend, { powers }));
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  const work = CARD_INPUTS * spectra * channels;
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
          return SENT_A_RUN * CARD_INPUTS * samples;
        },
      },
      ceiling: {
        title: 'the bus alone',
        ...cardContestant(session, given.copy, CARD_INPUTS * samples),
      },
      peer: {
        name: 'the filter alone',
        run: async () => {
          for (let n = 0; n < SENT_A_RUN; n++) await channeliser.run(given.block, plain[n % BLOCKS]);
          await untilIdle();
          return SENT_A_RUN * CARD_INPUTS * samples;
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
  const bytes = CARD_INPUTS * samples * voltageSizeBytes(inputType);
  const onHost = closers.keep(session.allocatePinned('voltages', bytes));
  const { handle } = session.streams.compute;
  session.call('cuMemcpyDtoHAsync', onHost.pointer, voltages.pointer, bytes, handle);
  session.call('cuStreamSynchronize', handle);
  const made = voltagesAT(onHost.view(Int8Array, bytes), inputType, CARD_INPUTS, samples);
  return {
    block: { type: inputType, inputs: CARD_INPUTS, samples, voltages: made, gaps: [], start: instant(0) },
    copy: () => {
      session.call('cuMemcpyHtoDAsync', voltages.pointer, onHost.pointer, bytes, handle);
    },
  };
}
