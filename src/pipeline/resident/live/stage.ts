/** One session of the ring's blocks through the chain on a card: cut where images and integrations end. */
import type { CudaEvent, CudaSession } from '../../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../../backend/cuda/spectra.js';
import { refuse } from '../../../core/errors.js';
import { channelSamplesIn, type SpectraGap } from '../../../core/gaps.js';
import { addSamples, addSeconds, formatInstant, secondsBetween } from '../../../core/instant.js';
import { gapsOfPresence } from '../../../core/presence/presence.js';
import { SampleCounter } from '../../../core/presence/sample-counter.js';
import type { Flagger, KurtosisTally } from '../../../kurtosis/index.js';
import type { CorrelatePlan } from '../../../correlate/index.js';
import type { LongSums } from '../../../correlate/on-card.js';
import type { LiveCells, RingPlan } from '../../../receive/index.js';
import type { CellFront } from '../../../receive/on-card.js';
import { skyFrame, type SkyFrame } from '../../../sky/frame.js';
import type { Telescope } from '../../../telescope/telescope.js';
import type { CardSession, CardStep } from '../../live/card-chain.js';
import type { LiveImaging } from '../../live/settings.js';
import { isEmptyImage, refuseEmpty } from '../../sky-image.js';
import type { PlannedImager } from '../../stages/planned-imager.js';
import { StretchKeeper, type Stretch, type TimedSpectra } from '../../stages/spectra.js';
import { emptyAccount, type Stage } from '../../stages/stage.js';
import type { ResidentClock } from '../clock.js';
import type { ResidentCorrelations } from '../correlations.js';
import { IN_FLIGHT } from '../plan.js';
import type { Deliveries } from './deliveries.js';
import type { CardImager } from './images.js';

/** What was prepared for the night. */
export interface CardParts {
  readonly session: CudaSession;
  readonly clock: ResidentClock<CardStep>;
  readonly front: CellFront;
  readonly correlation: CorrelatePlan;
  /** Where something is imaged by visibilities, or kept. */
  readonly correlations?: ResidentCorrelations;
  readonly longSums?: LongSums;
  readonly imaging?: LiveImaging;
  readonly planned?: PlannedImager<CardImager>;
  /** Where interference is looked for: who judges, and a tally for each session. */
  readonly flagging?: { readonly flagger: Flagger; readonly tally: () => KurtosisTally };
  readonly computed: CudaEvent;
  readonly images: Deliveries;
  readonly files: Deliveries;
  readonly telescope: Telescope;
  readonly told: { beganMs: number | undefined; endedMs: number; downloadedBytes: number };
}

type CardSpectra = TimedSpectra & { readonly block: CudaSpectraBlock };

export function cardStage(parts: CardParts, ring: RingPlan, session: CardSession): Stage<LiveCells, never> {
  const { front, told, flagging } = parts;
  const { grid, cuts } = session;
  const { stream } = ring;
  const account = emptyAccount();
  const products = sessionProducts(parts, session, account);
  const tally = flagging?.tally();
  /** Number of the spectrum that should come next. */
  let next = 0;
  return {
    push: async (cells) => {
      told.beganMs ??= performance.now();
      const expected = addSamples(grid.start, next, grid.spectrumRateHz);
      const lost = Math.round(secondsBetween(expected, cells.start) * grid.spectrumRateHz);
      if (lost < 0) {
        refuse(
          'spectra',
          `a block begins at ${formatInstant(cells.start, 9)}, ${-lost} spectra before the end of the last one`,
          'hand blocks over in the order of time',
        );
      }
      const gaps = gapsOfPresence(cells.presence, stream);
      next += lost;
      account.samplesIn += lost;
      account.missingSamples += lost * stream.channels * stream.inputs + channelSamplesIn(gaps);
      await front.send(cells);
      for (let at = 0; at < cells.samples;) {
        const cutAt = cuts.cutAfter(next);
        const take = Math.min(cells.samples - at, cutAt - next);
        const block = front.turn(at, take, gapsBetween(gaps, at, at + take));
        const index = next;
        at += take;
        next += take;
        account.samplesIn += take;
        account.spectra += take;
        const start = addSamples(grid.start, index, grid.spectrumRateHz);
        if (flagging)
          await around(parts, 'flag', async () => tally?.add(await flagging.flagger.run(block), index));
        await products.take({ block, index, start, cutAt });
      }
      // The ring's memory is given back as soon as it is on the card.
      await front.arrived();
      told.endedMs = performance.now();
    },
    flush: async () => {
      await products.flush();
      told.endedMs = performance.now();
    },
    account: () => account,
    close: async () => {
      await parts.images.settled();
      await parts.files.settled();
    },
  };
}

/** Queues a step on the compute stream, between two events. */
async function around(
  { session, clock }: CardParts,
  step: CardStep,
  queue: () => Promise<void> | void,
): Promise<void> {
  const { compute } = session.streams;
  const begun = clock.begin(compute);
  await queue();
  clock.end(step, begun, compute);
}

const gapsBetween = (gaps: readonly SpectraGap[], first: number, end: number): SpectraGap[] =>
  gaps
    .filter((gap) => gap.firstSample < end && gap.endSample > first)
    .map((gap) => ({
      ...gap,
      firstSample: Math.max(gap.firstSample, first) - first,
      endSample: Math.min(gap.endSample, end) - first,
    }));

interface Products {
  take(spectra: CardSpectra): Promise<void>;
  flush(): Promise<void>;
}

function sessionProducts(
  parts: CardParts,
  { grid, files: fileClock, sinks }: CardSession,
  account: ReturnType<typeof emptyAccount>,
): Products {
  const { session, clock, correlation, correlations, longSums, imaging, planned } = parts;
  const { compute, download } = session.streams;
  const timed = (step: CardStep, queue: () => Promise<void> | void): Promise<void> =>
    around(parts, step, queue);
  const byVisibilities = imaging?.road === 'visibilities';
  const fileCounter = new SampleCounter(correlation, correlation.flaggedInputs);
  let images = 0;
  /** Of the image in the making; the direct road needs its geometry before its first block. */
  let frame: SkyFrame | undefined;

  const frameOf = ({ firstIndex, cutAt, start }: Stretch): SkyFrame =>
    skyFrame(parts.telescope.site, addSeconds(start, (cutAt - firstIndex) / grid.spectrumRateHz / 2));

  /** The correlator's short integration to the long one. */
  const addToFiles = async (): Promise<void> => {
    if (!correlations || !longSums) return;
    await timed('sum', () => {
      longSums.add(correlations.visibilities);
    });
  };

  const imageKeeper = new StretchKeeper(async (stretch, endIndex) => {
    if (!planned) return;
    await parts.images.room(IN_FLIGHT);
    const durationS = (endIndex - stretch.firstIndex) / grid.spectrumRateHz;
    const sky = frame ?? skyFrame(parts.telescope.site, addSeconds(stretch.start, durationS / 2));
    frame = undefined;
    const { plan, imager } = await planned.at(sky);
    const slot = imager.slots[images++ % imager.slots.length];
    await timed('image', async () => {
      if (byVisibilities) await correlations?.finish();
      await imager.finish(slot);
    });
    if (byVisibilities) await addToFiles();
    parts.computed.record(compute);
    parts.computed.holdBack(download);
    const begun = clock.begin(download);
    const { onCard, onHost, landed } = slot;
    session.call('cuMemcpyDtoHAsync', onHost.pointer, onCard.pointer, onHost.sizeBytes, download.handle);
    clock.end('download', begun, download);
    landed.record(download);
    parts.told.downloadedBytes += onHost.sizeBytes;
    const laps = clock.count;
    parts.images.add(async () => {
      await landed.passed();
      clock.collect(laps);
      try {
        refuseEmpty(slot.image, 'every input is missing, flagged or without gains', 'see the packets');
      } catch (error) {
        if (!isEmptyImage(error)) throw error;
        sinks.noImage(error.what);
        return;
      }
      account.images++;
      await sinks.image({ image: slot.image, plan, frame: sky, start: stretch.start, durationS });
    });
  });

  const fileKeeper = new StretchKeeper(async ({ firstIndex, start }, endIndex) => {
    if (!correlations || !longSums) return;
    // One on its way down at a time: whoever writes too slowly holds the chain, and the ring tells.
    await parts.files.room(1);
    if (!byVisibilities) {
      await timed('sum', async () => {
        await correlations.finish();
        longSums.add(correlations.visibilities);
      });
    }
    const counts = fileCounter.finishProducts();
    const { channels, stations, polarisations, flaggedInputs } = correlation;
    const laps = clock.count;
    const coming = longSums.finish();
    parts.files.add(async () => {
      const visibilities = await coming;
      if (!planned) clock.collect(laps);
      parts.told.downloadedBytes += visibilities.byteLength;
      account.integrations++;
      const durationS = (endIndex - firstIndex) / grid.spectrumRateHz;
      await sinks.integration({
        ...{ start, durationS, channels, stations, polarisations },
        ...{ visibilities, ...counts, flaggedInputs },
      });
    });
  });

  return {
    take: async (spectra) => {
      const { block, index } = spectra;
      const filed = { ...spectra, cutAt: fileClock.cutAfter(index) };
      await imageKeeper.begin(spectra);
      await fileKeeper.begin(filed);
      // What is measured from here on waits for nothing but the card itself.
      block.reading(compute);
      if (correlations) {
        await timed('correlate', () => correlations.accumulate(block));
        fileCounter.add(block.samples, block.gaps);
      }
      if (planned && imaging?.road === 'direct') {
        frame ??= frameOf({ firstIndex: index, cutAt: spectra.cutAt, start: spectra.start });
        const { imager } = await planned.at(frame);
        await timed('image', () => imager.accumulate?.(block));
      }
      await imageKeeper.done(spectra);
      await fileKeeper.done(filed);
    },
    flush: async () => {
      await imageKeeper.flush();
      await fileKeeper.flush();
      await parts.images.settled();
      await parts.files.settled();
      await parts.images.room(1);
      await parts.files.room(1);
    },
  };
}
