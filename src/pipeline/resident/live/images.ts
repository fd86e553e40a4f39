/** Images of a night on a card, by either road: made at a cut, sent down on a stream of their own, handed on when there. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { CudaEvent, DeviceMemory, PinnedMemory } from '../../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../../backend/cuda/spectra.js';
import { uploadArray } from '../../../backend/cuda/transfer.js';
import { imageCPML, type ImageCPML } from '../../../core/axes.js';
import type { SpectraShape } from '../../../core/blocks.js';
import { preparing, type Closable, type Closers } from '../../../core/closing.js';
import type { ImagePlan } from '../../../image/index.js';
import {
  inputFactors,
  prepareCudaDirectImager,
  prepareCudaVisibilityImager,
  prepareImageScaler,
  unitFactors,
} from '../../../image/on-card.js';
import type { LiveImaging } from '../../live/settings.js';
import type { Calibrated } from '../../sky-image.js';
import type { ResidentCorrelations } from '../correlations.js';
import { IN_FLIGHT } from '../plan.js';

/** One image on its way: on the card, then in page-locked memory. */
export interface ImageSlot {
  readonly onCard: DeviceMemory;
  readonly onHost: PinnedMemory;
  readonly image: ImageCPML;
  readonly landed: CudaEvent;
}

export interface CardImager extends Closable {
  readonly description: string;
  readonly slots: readonly ImageSlot[];
  /** Queues a block's part of the image in the making: the direct road alone. */
  accumulate?(block: CudaSpectraBlock): Promise<void>;
  /** Queues the image of what was added into a slot. */
  finish(slot: ImageSlot): Promise<void>;
}

export interface CardImagerSettings {
  /** Gains are those of the whole run. */
  readonly imaging: Omit<LiveImaging, 'calibrated'> & { readonly calibrated?: Calibrated };
  readonly shape: SpectraShape;
  readonly flaggedInputs: Uint8Array;
  /** By visibilities: where they lie. */
  readonly correlations?: ResidentCorrelations;
}

export const prepareCardImager = (
  plan: ImagePlan,
  backend: CudaBackend,
  settings: CardImagerSettings,
): Promise<CardImager> =>
  preparing(async (closers) => {
    const slots = Array.from({ length: IN_FLIGHT }, () => prepareSlot(plan, backend, closers));
    const road = await (settings.imaging.road === 'direct'
      ? directImager(plan, backend, settings, closers)
      : visibilityImager(plan, backend, settings, closers));
    return { ...road, slots, close: () => closers.close() };
  });

type Road = Pick<CardImager, 'description' | 'accumulate' | 'finish'>;

async function directImager(
  plan: ImagePlan,
  backend: CudaBackend,
  { imaging, shape }: CardImagerSettings,
  closers: Closers,
): Promise<Road> {
  const imager = closers.keep(await prepareCudaDirectImager(plan, backend, { pixels: 'f64' }));
  await imager.prepare(shape);
  const { calibrated } = imaging;
  if (calibrated) imager.setGains(calibrated.gains, calibrated.solved);
  return {
    description: imager.describe(shape),
    accumulate: (block) => imager.accumulate(block),
    finish: async ({ onCard }) => {
      await imager.finishOnDevice(onCard.pointer);
    },
  };
}

async function visibilityImager(
  plan: ImagePlan,
  backend: CudaBackend,
  { imaging, flaggedInputs, correlations }: CardImagerSettings,
  closers: Closers,
): Promise<Road> {
  if (!correlations) throw new Error('the road by visibilities correlates');
  const { session } = backend;
  const { calibrated, weight } = imaging;
  const imager = closers.keep(await prepareCudaVisibilityImager(plan, backend));
  const scaler = closers.keep(await prepareImageScaler(plan, backend, 'f64'));
  const flags = closers.keep(await uploadArray(session, 'input flags', flaggedInputs));
  const given = calibrated ? inputFactors(plan, calibrated.gains, calibrated.solved) : unitFactors(plan);
  const factors = closers.keep(await uploadArray(session, 'factors', given));
  return {
    description: imager.description,
    finish: ({ onCard }) => {
      imager.imageOnDevice(
        {
          visibilities: correlations.visibilities.pointer,
          weights: correlations.counts.pointer,
          weightsPerBaseline: 1,
          factors: factors.pointer,
          flags: flags.pointer,
        },
        { weight, autos: 'leave-out' },
      );
      scaler.scale({ sums: imager.sums.pointer, weights: imager.weightSums.pointer, to: onCard.pointer });
      return Promise.resolve();
    },
  };
}

function prepareSlot(plan: ImagePlan, { session }: CudaBackend, closers: Closers): ImageSlot {
  const { channels, products, pixels } = plan;
  const values = channels * products * pixels ** 2;
  const onHost = closers.keep(session.allocatePinned('an image', 8 * values));
  return {
    onCard: closers.keep(session.allocate('an image', 8 * values)),
    onHost,
    image: imageCPML(new Float64Array(onHost.buffer, 0, values), channels, products, pixels),
    landed: closers.keep(session.createEvent()),
  };
}
