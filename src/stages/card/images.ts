/** Images that a card makes and scales: only pixels are copied to the host, into page-locked memory. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import { offsetBy, type DevicePointer } from '../../backend/cuda/session.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import { imageCPML, weightsCP } from '../../core/axes.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import type {
  DirectImage,
  DirectImager,
  ImagePlan,
  VisibilityImage,
  VisibilityImager,
} from '../../image/index.js';
import {
  inputFactors,
  prepareCudaDirectImager,
  prepareCudaVisibilityImager,
  prepareImageScaler,
  unitFactors,
} from '../../image/on-card.js';
import type { Calibrated } from '../sky-image.js';
import type { CardIntegration } from './integrations.js';

type Pixels = Pick<VisibilityImage, 'image' | 'weights'>;

interface Landing {
  readonly image: DevicePointer;
  readonly weights: DevicePointer;
  /** Copies both to the host after all queued work; the next image fills the arrays anew. */
  land(): Promise<Pixels>;
}

function prepareLanding(
  { channels, products, pixels }: ImagePlan,
  { session, meter }: CudaBackend,
  closers: Closers,
): Landing {
  const [values, planes] = [channels * products * pixels ** 2, channels * products];
  const onCard = closers.keep(session.allocate('an image and its weights', 8 * (values + planes)));
  const onHost = closers.keep(session.allocatePinned('an image and its weights', onCard.sizeBytes));
  const landed = closers.keep(session.createEvent());
  const { compute } = session.streams;
  const image = imageCPML(onHost.view(Float64Array, values), channels, products, pixels);
  const weights = weightsCP(onHost.view(Float64Array, planes, 8 * values), channels, products);
  return {
    image: onCard.pointer,
    weights: offsetBy(onCard.pointer, 8 * values),
    land: async () => {
      meter.around('download', compute, () => {
        session.call('cuMemcpyDtoHAsync', onHost.pointer, onCard.pointer, onCard.sizeBytes, compute.handle);
      });
      landed.record(compute);
      await landed.passed();
      meter.downloaded(onCard.sizeBytes);
      return { image, weights };
    },
  };
}

interface CardDirectImager extends Pick<DirectImager, 'setGains' | 'accumulate'>, Closable {
  finish(): Promise<Omit<DirectImage, 'counts'>>;
}

/** Direct images with their autocorrelations. */
export const prepareCardDirectImager = (plan: ImagePlan, backend: CudaBackend): Promise<CardDirectImager> =>
  preparing(async (closers) => {
    const landing = prepareLanding(plan, backend, closers);
    const imager = closers.keep(await prepareCudaDirectImager(plan, backend));
    const { compute } = backend.session.streams;
    return {
      setGains: (gains, solved) => {
        imager.setGains(gains, solved);
      },
      accumulate: (block) => backend.meter.around('image', compute, () => imager.accumulate(block)),
      finish: async () => {
        const { samples } = await backend.meter.around('finish', compute, () =>
          imager.finishOnDevice(landing.image, landing.weights),
        );
        return { ...(await landing.land()), samples };
      },
      close: () => closers.close(),
    };
  });

interface CardImageOptions {
  readonly weight: 'natural' | 'uniform';
  readonly autos: 'include' | 'leave-out';
}

export interface CardVisibilityImager extends VisibilityImager {
  /** Undefined where the integration has to be imaged from the host: its products have counts of their own. */
  imageOnCard(integration: CardIntegration, calibrated: Calibrated | undefined): Promise<Pixels | undefined>;
}

/** Images of integrations on the card by the flat method. */
export const prepareCardVisibilityImager = (
  plan: ImagePlan,
  backend: CudaBackend,
  options: CardImageOptions,
): Promise<CardVisibilityImager> =>
  preparing(async (closers) => {
    const { session, meter } = backend;
    const { compute } = session.streams;
    const landing = prepareLanding(plan, backend, closers);
    const imager = closers.keep(await prepareCudaVisibilityImager(plan, backend));
    const scaler = closers.keep(await prepareImageScaler(plan, backend));
    const factors = kept(backend, 'factors', closers, (calibrated: Calibrated | undefined) =>
      calibrated ? inputFactors(plan, calibrated.gains, calibrated.solved) : unitFactors(plan),
    );
    const flags = kept(backend, 'input flags', closers, (flagged: Uint8Array) => flagged);
    return {
      plan,
      image: (integrations, own, into) => imager.image(integrations, own, into),
      imageOnCard: async ({ onCard, flaggedInputs }, calibrated) => {
        const weights = await onCard.counts();
        if (!weights) return undefined;
        const from = {
          visibilities: onCard.visibilities.pointer,
          weights: weights.pointer,
          weightsPerBaseline: 1,
          factors: await factors(calibrated),
          flags: await flags(flaggedInputs),
        };
        meter.around('image', compute, () => {
          imager.imageOnDevice(from, { ...options, weightsTo: landing.weights });
          scaler.scale({ sums: imager.sums.pointer, weights: landing.weights, to: landing.image });
        });
        const made = await landing.land();
        // XY is one complex product: both its parts have one weight.
        if (plan.products === 4)
          for (let n = 3; n < made.weights.length; n += 4) made.weights[n] = made.weights[n - 1];
        return made;
      },
      close: () => closers.close(),
    };
  });

/** An array on the card, sent again when it changes. */
function kept<Key>(
  { session }: CudaBackend,
  what: string,
  closers: Closers,
  valuesOf: (key: Key) => ArrayBufferView,
): (key: Key) => Promise<DevicePointer> {
  let current: { readonly key: Key; readonly memory: Awaited<ReturnType<typeof uploadArray>> } | undefined;
  closers.keep({ close: () => current?.memory.close() ?? Promise.resolve() });
  return async (key) => {
    if (!current || current.key !== key) {
      await current?.memory.close();
      current = { key, memory: await uploadArray(session, what, valuesOf(key)) };
    }
    return current.memory.pointer;
  };
}
