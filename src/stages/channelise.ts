/** Voltages to spectra, cut where integrations end. Lost samples are filled or skipped, and counted. */
import type { Backend } from '../backend/backend.js';
import { prepareChanneliser, type ChannelisePlan } from '../channelise/index.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { allocateVoltages, type VoltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { preparing, type Closers } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { samplesIn } from '../core/gaps.js';
import { addSamples, formatInstant, secondsBetween } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import type { SpectrumDelays } from '../delay/index.js';
import { firstSpectrumStart } from './channels.js';
import { BlockSlicer } from './slices.js';
import { spectrumStart, type IntegrationClock, type SpectrumGrid } from './clock.js';
import { blocksInTurn, type TimedSpectra } from './spectra.js';
import { emptyAccount, type Emit, type Stage } from './stage.js';

export interface ChanneliseSettings {
  readonly backend: Backend;
  readonly plan: ChannelisePlan;
  readonly source: Pick<VoltageSource, 'start' | 'sampleRateHz' | 'polarisations'>;
  readonly clock: IntegrationClock;
  /** Set where blocks begin with this spectrum's first sample instead of the source's. */
  readonly firstSpectrum?: number;
  /** Where the plan has `mostDelaySamples`; spectra are cut where they change, too. */
  readonly delays?: SpectrumDelays;
  /**
   * A flagger follows: powers are summed here where the backend can, and blocks are filled in rotation
   * (core/blocks.ts).
   */
  readonly powers?: number;
}

/** Times of a plan's spectra of a source. */
export const spectrumGrid = (
  source: Pick<VoltageSource, 'start' | 'sampleRateHz'>,
  plan: ChannelisePlan,
): SpectrumGrid => ({
  start: firstSpectrumStart(source, plan),
  spectrumRateHz: source.sampleRateHz / plan.samplesPerSpectrum,
});

/** The stage from voltages to spectra: prepared once, run for as long as data come. */
export const prepareChannelise = (settings: ChanneliseSettings): Promise<Stage<VoltageBlock, TimedSpectra>> =>
  preparing((closers) => makeStage(settings, closers));

async function makeStage(
  settings: ChanneliseSettings,
  closers: Closers,
): Promise<Stage<VoltageBlock, TimedSpectra>> {
  const { backend, plan, source, clock, delays, firstSpectrum = 0, powers } = settings;
  const { samplesPerSpectrum: perSpectrum, taps, mostDelaySamples: most = 0 } = plan;
  const { sampleRateHz } = source;
  const grid = spectrumGrid(source, plan);
  const asked = powers === undefined ? {} : { powers };
  const channeliser = closers.keep(await prepareChanneliser(plan, backend, asked));
  const shape = { ...plan.output, ...(channeliser.sumsPowers && asked) };
  const room = Array.from({ length: blocksInTurn(backend, powers !== undefined) }, () =>
    closers.keep(backend.allocateSpectra(shape)),
  );
  /** Slices in page-locked memory go to a card without another copy. */
  const pinned =
    ({ session }: CudaBackend) =>
    ({ type, inputs }: VoltageBlock): VoltagesAT =>
      allocateVoltages(...([type, inputs, plan.blockSamples] as const), (bytes) =>
        closers.keep(session.allocatePinned('slices of voltages', bytes)).view(Uint8Array, bytes),
      );
  /** The next one of them to fill. */
  let turn = 0;
  const account = emptyAccount();
  const slicer = new BlockSlicer(sampleRateHz, backend.kind === 'cuda' ? pinned(backend) : undefined);
  /** Counted from the source's first sample: where the next block should begin. */
  let nextSample = firstSpectrum * perSpectrum;
  /** The spectrum that the channeliser makes next, and the first sample of its window. */
  let nextSpectrum = firstSpectrum;
  /** Samples to skip after a long loss, before the first whole window on the grid of spectra. */
  let toSkip = 0;
  /** Saturation counted before the channeliser was last reset. */
  let saturatedBefore = 0;

  /** Feeds consecutive samples, in pieces that end at cuts. */
  async function feed(block: VoltageBlock, emit: Emit<TimedSpectra>): Promise<void> {
    for (let at = 0; at < block.samples;) {
      const cutAt = clock.cutAfter(nextSpectrum);
      const delayed = delays?.from(nextSpectrum);
      // The last spectrum before the cut, or before delays change, is complete with this sample.
      const cutSample = (Math.min(cutAt, delayed?.until ?? Infinity) + taps - 1) * perSpectrum + most;
      const take = Math.min(block.samples - at, cutSample - nextSample);
      const piece = slicer.slice(block, at, at + take);
      const spectra = room[turn];
      await channeliser.run(piece, spectra, ...(delayed ? [delayed.delays] : []));
      at += take;
      nextSample += take;
      account.samplesIn += take;
      account.missingSamples += samplesIn(piece.gaps);
      if (spectra.samples > 0) {
        const index = nextSpectrum;
        nextSpectrum += spectra.samples;
        account.spectra += spectra.samples;
        turn = (turn + 1) % room.length;
        const start = spectrumStart(grid, index);
        await emit({ block: spectra, index, start, cutAt, stays: room.length - 1 });
      }
    }
  }

  /** A block of zeros, for lost samples. */
  let silence: VoltageBlock | undefined;
  async function feedSilence(samples: number, emit: Emit<TimedSpectra>): Promise<void> {
    for (let left = samples; left > 0;) {
      const length = Math.min(left, plan.blockSamples);
      if (silence?.samples !== length) silence = silentBlock(plan, source, length);
      await feed(silence, emit);
      left -= length;
    }
  }

  /**
   * A short loss becomes a gap in an unbroken stream. A long one is skipped: spectra that reach into it are made, those
   * inside it are skipped, and the filter starts again on the grid of spectra.
   */
  async function bridge(lost: number, emit: Emit<TimedSpectra>): Promise<void> {
    const window = taps * perSpectrum + most;
    if (lost <= 2 * window + plan.blockSamples) {
      await feedSilence(lost, emit);
      return;
    }
    const end = nextSample + lost;
    await feedSilence(window, emit);
    saturatedBefore += channeliser.saturated;
    channeliser.reset();
    nextSpectrum = Math.ceil(end / perSpectrum);
    account.samplesIn += end - nextSample;
    account.missingSamples += (end - nextSample) * plan.inputs;
    nextSample = end;
    toSkip = nextSpectrum * perSpectrum - end;
  }
  return {
    push: async (block, emit) => {
      const expected = addSamples(source.start, nextSample, sampleRateHz);
      const lost = Math.round(secondsBetween(expected, block.start) * sampleRateHz);
      if (lost < 0) {
        refuse(
          'channelise',
          `a block begins at ${formatInstant(block.start, 9)}, ${-lost} samples before the end of the last one`,
          'hand blocks over in the order of time',
        );
      }
      if (lost > 0) await bridge(lost, emit);
      let rest = block;
      if (toSkip > 0) {
        const skipped = Math.min(toSkip, block.samples);
        account.samplesIn += skipped;
        account.missingSamples += skipped * plan.inputs;
        nextSample += skipped;
        toSkip -= skipped;
        rest = slicer.slice(block, skipped, block.samples);
      }
      if (rest.samples > 0) await feed(rest, emit);
    },
    flush: () => Promise.resolve(),
    account: () => ({ ...account, saturated: saturatedBefore + channeliser.saturated }),
    close: () => closers.close(),
  };
}

const silentBlock = (
  plan: ChannelisePlan,
  { start }: Pick<VoltageSource, 'start'>,
  samples: number,
): VoltageBlock => ({
  type: plan.inputType,
  inputs: plan.inputs,
  samples,
  voltages: allocateVoltages(plan.inputType, plan.inputs, samples),
  gaps: [{ firstInput: 0, endInput: plan.inputs, firstSample: 0, endSample: samples }],
  start,
});
