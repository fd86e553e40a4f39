/** Data that arrive channelised, converted for the backend and cut where integrations end. */
import type { Backend } from '../backend/backend.js';
import { planTurning, prepareTurner } from '../channelise/index.js';
import type { CanonicalSpectra } from '../core/blocks.js';
import { preparing, type Closers } from '../core/closing.js';
import { channelSamplesIn, wholeStations, zeroGaps, type GapsCover } from '../core/gaps.js';
import { addSamples } from '../core/instant.js';
import type { SpectraSource } from '../core/sources.js';
import { BLOCK_BYTES } from './channels.js';
import { sliceSpectra } from './slices.js';
import type { RequestedDelays } from './tracking.js';
import type { IntegrationClock } from './clock.js';
import { blocksInTurn, lostBefore, type TimedSpectra } from './spectra.js';
import { emptyAccount, type Stage } from './stage.js';

export interface TakeSpectraSettings {
  readonly backend: Backend;
  readonly source: SpectraSource;
  readonly clock: IntegrationClock;
  /** Set where blocks begin with this one instead of the source's first. */
  readonly firstSpectrum?: number;
  /** The part of delays that can be applied to channelised data: the phase. Spectra become floats. */
  readonly delays?: Pick<RequestedDelays, 'delayModel'>;
  /** The least number of spectra in a block, where they are tested together. */
  readonly leastSpectra?: number;
  /** What a lost polarisation invalidates: itself only (default), or its station. */
  readonly gapsCover?: GapsCover;
  /** A flagger follows: blocks are filled in rotation. */
  readonly flagged?: boolean;
}

/** Spectra in a block: a few megabytes for any telescope, but at least as many as are tested together. */
export const spectraPerBlock = (
  { channels, inputs }: Pick<SpectraSource, 'channels' | 'inputs'>,
  leastSpectra = 1,
): number => Math.max(leastSpectra, Math.floor(BLOCK_BYTES / (channels * inputs * 4)));

/** The stage for data that arrive channelised. */
export const prepareTakeSpectra = (
  settings: TakeSpectraSettings,
): Promise<Stage<CanonicalSpectra, TimedSpectra>> =>
  preparing((closers) => makeTakeSpectra(settings, closers));

async function makeTakeSpectra(
  {
    backend,
    source,
    clock,
    delays,
    firstSpectrum = 0,
    leastSpectra,
    gapsCover = 'inputs',
    flagged = false,
  }: TakeSpectraSettings,
  closers: Closers,
): Promise<Stage<CanonicalSpectra, TimedSpectra>> {
  const { type, channels, inputs, polarisations, spectrumRateHz } = source;
  const shape = { type, channels, inputs, capacity: spectraPerBlock(source, leastSpectra) };
  const turning = delays && {
    delayModel: delays.delayModel,
    turner: closers.keep(await prepareTurner(planTurning(source), backend)),
    /** In the order of arrival. */
    before: closers.keep(backend.allocateSpectra(shape)),
  };
  const room = Array.from({ length: blocksInTurn(backend, flagged) }, () =>
    closers.keep(backend.allocateSpectra(turning ? { ...shape, type: 'cf32' } : shape)),
  );
  /** The next one of them to fill. */
  let turn = 0;
  const account = emptyAccount();
  /** Number of the next expected spectrum. */
  let next = firstSpectrum;

  return {
    push: async (arrived, emit) => {
      const lost = lostBefore(source, next, arrived.start);
      next += lost;
      account.samplesIn += lost;
      account.missingSamples += lost * channels * inputs + channelSamplesIn(arrived.gaps);
      for (let at = 0; at < arrived.samples;) {
        const cutAt = clock.cutAfter(next);
        const take = Math.min(arrived.samples - at, cutAt - next, shape.capacity);
        const part = sliceSpectra(arrived, source, { first: at, end: at + take });
        const gaps = wholeStations(part.gaps, gapsCover === 'stations' ? polarisations : 1);
        zeroGaps(part.spectra, { type, inputs, samples: part.samples }, gaps);
        const block = room[turn];
        turn = (turn + 1) % room.length;
        await (turning?.before ?? block).write(part.spectra, part.samples, gaps);
        if (turning) await turning.turner.run(turning.before, block, turning.delayModel, next);
        const index = next;
        at += take;
        next += take;
        account.samplesIn += take;
        account.spectra += take;
        const start = addSamples(source.start, index, spectrumRateHz);
        await emit({ block, index, start, cutAt, stays: room.length - 1 });
      }
    },
    flush: () => Promise.resolve(),
    account: () => account,
    close: () => closers.close(),
  };
}
