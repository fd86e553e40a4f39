/**
 * Packets of spectra on a card: blocks of the ring are copied unchanged, and become spectra there, cut where
 * integrations end.
 */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { preparing } from '../core/closing.js';
import { channelSamplesIn } from '../core/gaps.js';
import { addSamples } from '../core/instant.js';
import { gapsOfPresence } from '../core/presence/presence.js';
import type { LiveCells, LiveSpectraSource } from '../receive/index.js';
import { prepareCellFront, SPECTRA_BLOCKS } from '../receive/on-card.js';
import type { IntegrationClock } from './clock.js';
import { movedGaps } from './slices.js';
import { lostBefore, type TimedSpectra } from './spectra.js';
import { emptyAccount, type Stage } from './stage.js';

interface TakeCellsSettings {
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
    /** Number of the next expected spectrum. */
    let next = 0;
    return {
      push: async (cells, emit) => {
        const lost = lostBefore(source, next, cells.start);
        const gaps = gapsOfPresence(cells.presence, stream);
        next += lost;
        account.samplesIn += lost;
        account.missingSamples += lost * stream.channels * stream.inputs + channelSamplesIn(gaps);
        const { bytes, copied } = front.sent;
        await front.send(cells);
        meter.sent({ bytes: front.sent.bytes - bytes, isCopied: front.sent.copied > copied });
        for (let at = 0; at < cells.samples;) {
          const cutAt = clock.cutAfter(next);
          const take = Math.min(cells.samples - at, cutAt - next);
          const block = front.turn(at, take, movedGaps(gaps, { first: at, end: at + take }, -at));
          const index = next;
          at += take;
          next += take;
          account.samplesIn += take;
          account.spectra += take;
          const start = addSamples(source.start, index, spectrumRateHz);
          await emit({ block, index, start, cutAt, stays: SPECTRA_BLOCKS - 1 });
        }
        // The ring's memory is released as soon as it is on the card.
        await front.arrived();
      },
      flush: () => Promise.resolve(),
      account: () => account,
      close: () => closers.close(),
    };
  });
