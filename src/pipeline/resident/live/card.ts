/**
 * The resident chain of a night: blocks of the ring go up as they are, and images and integrations come down; nothing in
 * between leaves the card. Everything is compiled and allocated before the first packet.
 */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { GivenMemory } from '../../../backend/cuda/session.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { CorellaError } from '../../../core/errors.js';
import type { Instant } from '../../../core/instant.js';
import { planCorrelation } from '../../../correlate/index.js';
import { prepareLongSums } from '../../../correlate/on-card.js';
import type { RingPlan } from '../../../receive/index.js';
import { cannotTurn, prepareCellFront, shapeOf } from '../../../receive/on-card.js';
import { KurtosisTally, prepareFlagger } from '../../../kurtosis/index.js';
import { skyFrame } from '../../../sky/frame.js';
import type { CardAccount, CardChain, CardStep } from '../../live/card-chain.js';
import { imagedInputs } from '../../live/left-out.js';
import type { LiveSettings } from '../../live/settings.js';
import { planSky } from '../../sky-image.js';
import { kurtosisPlan } from '../../stages/kurtosis.js';
import { PlannedImager } from '../../stages/planned-imager.js';
import { ResidentClock } from '../clock.js';
import { prepareResidentCorrelations } from '../correlations.js';
import { Deliveries } from './deliveries.js';
import { prepareCardImager, type CardImager } from './images.js';
import { beyondCard, checkFits, correlates, liveCardParts, partsBytes } from './plan.js';
import { cardStage, type CardParts } from './stage.js';

export interface LiveCardSettings extends Omit<LiveSettings, 'backend' | 'channels' | 'card'> {
  readonly backend: CudaBackend;
  readonly ring: RingPlan;
  readonly polarisations: 1 | 2;
  /** When the first image will be about: its geometry is planned for then. */
  readonly about: Instant;
  /** The ring's own memory, whose pages are locked. */
  readonly memory?: readonly GivenMemory[];
  readonly say: (line: string) => void;
}

/** Undefined where the packets must be turned by the processor, which is said; refused where the card is too small. */
export async function prepareLiveCard(settings: LiveCardSettings): Promise<CardChain | undefined> {
  const why = cannotTurn(settings.ring.stream, settings.polarisations) ?? beyondCard(settings);
  if (why === undefined) return preparing((closers) => prepare(settings, closers));
  settings.say(`blocks go through the host: ${why}`);
  return undefined;
}

async function prepare(settings: LiveCardSettings, closers: Closers): Promise<CardChain> {
  const { backend, ring, polarisations, frequenciesHz, say } = settings;
  const { telescope, calibrated } = imagedInputs(settings);
  if (typeof calibrated === 'function') throw new Error('gains over time came to the card');
  const imaging = settings.imaging && { ...settings.imaging, calibrated };
  const { session } = backend;
  const integrations = settings.integrations ?? 'kept';
  const frame = skyFrame(telescope.site, settings.about);
  const shape = shapeOf(ring);
  const { type, channels, inputs } = shape;
  const judged =
    settings.kurtosis &&
    kurtosisPlan(
      settings.kurtosis,
      // Counts on the card are of pairs of stations.
      { type, channels, inputs, polarisations, gapsCover: 'stations' },
      settings.flaggedInputs,
    );
  const plan = {
    ...{ ring, polarisations, integrations },
    ...(judged && { kurtosis: judged }),
    ...(imaging && {
      imaging: { road: imaging.road, plan: planSky(telescope, frame, frequenciesHz, imaging.image) },
    }),
  };
  const parts = liveCardParts(plan);
  const freeBefore = session.freeMemoryBytes();
  checkFits(parts, { name: session.device.name, freeBytes: freeBefore });
  lockMemory(settings, closers);

  if (type === 'cf32') throw new Error('no packets hold floats');
  const correlation = planCorrelation({
    ...{ stations: inputs / polarisations, polarisations, channels, type },
    ...(settings.flaggedInputs && { flaggedInputs: settings.flaggedInputs }),
  });
  const clock = closers.keep(new ResidentClock<CardStep>(session));
  const streams = { upload: session.streams.upload, turn: session.streams.prepare };
  const front = closers.keep(
    await prepareCellFront(ring, backend, {
      around: (step, queue) => {
        const begun = clock.begin(streams[step]);
        queue();
        clock.end(step, begun, streams[step]);
      },
    }),
  );
  const correlations = correlates(plan)
    ? closers.keep(await prepareResidentCorrelations(correlation, backend))
    : undefined;
  const longSums =
    integrations === 'kept' ? closers.keep(await prepareLongSums(correlation, backend)) : undefined;
  const flagger = judged && closers.keep(await prepareFlagger(judged, backend));
  const images = new Deliveries();
  const files = new Deliveries();
  const planned =
    imaging &&
    closers.keep(
      new PlannedImager<CardImager>({
        telescope,
        frequenciesHz,
        settings: imaging.image,
        ...(settings.align === 'utc' && { plannedFor: 'utc' as const }),
        prepare: async (image) => {
          const { flaggedInputs } = correlation;
          const common = { imaging, shape, flaggedInputs };
          const imager = await prepareCardImager(image, backend, {
            ...common,
            ...(correlations && { correlations }),
          });
          return {
            ...imager,
            // What is on its way down is handed on before its memory goes.
            close: async () => {
              await images.settled();
              await imager.close();
            },
          };
        },
      }),
    );
  const first = await planned?.at(frame);
  for (const stream of Object.values(session.streams)) session.call('cuStreamSynchronize', stream.handle);
  const takenBytes = freeBefore - session.freeMemoryBytes();
  const computed = closers.keep(session.createEvent());

  const told = { beganMs: undefined as number | undefined, endedMs: 0, downloadedBytes: 0 };
  const parted: CardParts = {
    ...{ session, clock, front, correlation, computed, images, files, telescope, told },
    ...(correlations && { correlations }),
    ...(longSums && { longSums }),
    ...(planned && { planned, imaging }),
    ...(flagger && {
      flagging: {
        flagger,
        tally: () => {
          const tally = new KurtosisTally(flagger.plan);
          settings.kurtosis?.onPlan?.(flagger.plan, tally);
          return tally;
        },
      },
    }),
  };
  say(
    `the chain stays on the card: packets turned there${flagger ? ', interference looked for there and judged by the host, and whole stations taken' : ''}${first ? `, ${first.imager.description}` : ''}; ` +
      `${ring.blocks} blocks of the ring`,
  );
  return {
    description: first?.imager.description ?? 'integrations alone',
    stage: (one) => cardStage(parted, ring, one),
    account: (): CardAccount => {
      const seconds = clock.times;
      const wallS = told.beganMs === undefined ? 0 : (told.endedMs - told.beganMs) / 1000;
      const { turn = 0, flag = 0, correlate = 0, image = 0, sum = 0 } = seconds;
      return {
        wallS,
        busyShare: wallS > 0 ? (turn + flag + correlate + image + sum) / wallS : 0,
        seconds,
        blocks: front.sent.blocks,
        copiedBlocks: front.sent.copied,
        uploadedBytes: front.sent.bytes,
        downloadedBytes: told.downloadedBytes,
        plannedBytes: partsBytes(parts),
        takenBytes,
      };
    },
    close: async () => {
      await images.settled();
      await files.settled();
      for (const stream of Object.values(session.streams)) session.call('cuStreamSynchronize', stream.handle);
      await closers.close();
    },
  };
}

/** Without locked pages blocks are copied once more on the host: slower, and told. */
function lockMemory({ backend, memory = [], say }: LiveCardSettings, closers: Closers): void {
  try {
    for (const block of memory) closers.keep(backend.session.lockPages('a block of the ring', block));
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    say(`the ring's memory is not page-locked, so blocks are copied on the host first: ${error.what}`);
  }
}
