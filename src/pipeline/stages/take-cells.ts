/** Packets of spectra on a card: blocks of the ring go up as they are, and become spectra there, cut where integrations end. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import { preparing } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { channelSamplesIn, type SpectraGap } from '../../core/gaps.js';
import { addSamples, formatInstant, secondsBetween } from '../../core/instant.js';
import { gapsOfPresence } from '../../core/presence/presence.js';
import type { LiveCells, LiveSpectraSource } from '../../receive/index.js';
import { prepareCellFront, SPECTRA_BLOCKS } from '../../receive/on-card.js';
import type { IntegrationClock } from './clock.js';
import type { TimedSpectra } from './spectra.js';
import { emptyAccount, type Stage } from './stage.js';

export interface TakeCellsSettings {
  readonly backend: CudaBackend;
  readonly source: Pick<LiveSpectraSource, 'ring' | 'start' | 'spectrumRateHz'>;
  readonly clock: IntegrationClock;
}

export const prepareTakeCells = ({
  backend,
  source,
  clock,
}: TakeCellsSettings): Promise<Stage<LiveCells, TimedSpectra>> =>
  preparing(async (closers) => {
    const { ring, spectrumRateHz } = source;
    const { stream } = ring;
    const { meter } = backend;
    const front = closers.keep(
      await prepareCellFront(ring, backend, {
        around: (step, queue) => {
          meter.around(step, backend.session.streams[step === 'upload' ? 'upload' : 'prepare'], queue);
        },
      }),
    );
    const account = emptyAccount();
    /** Number of the spectrum that should come next. */
    let next = 0;
    return {
      push: async (cells, emit) => {
        const expected = addSamples(source.start, next, spectrumRateHz);
        const lost = Math.round(secondsBetween(expected, cells.start) * spectrumRateHz);
        if (lost < 0)
          refuse(
            'spectra',
            `a block begins at ${formatInstant(cells.start, 9)}, ${-lost} spectra before the end of the last one`,
            'hand blocks over in the order of time',
          );
        const gaps = gapsOfPresence(cells.presence, stream);
        next += lost;
        account.samplesIn += lost;
        account.missingSamples += lost * stream.channels * stream.inputs + channelSamplesIn(gaps);
        await front.send(cells);
        for (let at = 0; at < cells.samples;) {
          const cutAt = clock.cutAfter(next);
          const take = Math.min(cells.samples - at, cutAt - next);
          const block = front.turn(at, take, gapsBetween(gaps, at, at + take));
          const index = next;
          at += take;
          next += take;
          account.samplesIn += take;
          account.spectra += take;
          const start = addSamples(source.start, index, spectrumRateHz);
          await emit({ block, index, start, cutAt, stays: SPECTRA_BLOCKS - 1 });
        }
        // The ring's memory is given back as soon as it is on the card.
        await front.arrived();
        meter.sent(front.sent);
      },
      flush: () => Promise.resolve(),
      account: () => account,
      close: () => closers.close(),
    };
  });

const gapsBetween = (gaps: readonly SpectraGap[], first: number, end: number): SpectraGap[] =>
  gaps
    .filter((gap) => gap.firstSample < end && gap.endSample > first)
    .map((gap) => ({
      ...gap,
      firstSample: Math.max(gap.firstSample, first) - first,
      endSample: Math.min(gap.endSample, end) - first,
    }));
