/**
 * Integrations to images, by the geometry of their own moment: gridded in u, v and w, for every array; or, live, with
 * the pair kernels of direct images in the plane of the stations, where that is exact and the other method too slow.
 */
import type { Backend } from '../backend/backend.js';
import type { Integration } from '../core/blocks.js';
import type { OnStep } from '../core/progress.js';
import { prepareVisibilityImager, type VisibilityImage, type VisibilityImager } from '../image/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { blankDiscs } from './blank-discs.js';
import { frameAtMiddle } from './geometry.js';
import { withoutLeakage } from './gains/apply-visibilities.js';
import { refuseEmpty, type Calibrated, type ImageSettings, type SkyImage } from './sky-image.js';
import { prepareCardVisibilityImager, type CardVisibilityImager } from './card/images.js';
import { isOnCard, onHost, type CardIntegration } from './card/integrations.js';
import { PlannedImager, type ImagerStore, type PlannedFor } from './planned-imager.js';
import { emptyAccount, type Stage } from './stage.js';
import { prepareWTermImager } from './w-term-image.js';

export interface ImageStageSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly weight: 'natural' | 'uniform';
  readonly autos: 'include' | 'leave-out';
  /** Leaves the beam out where it is not used. */
  readonly beam?: 'leave-out';
  /** For integrations without gains of their own. */
  readonly calibrated?: Calibrated;
  readonly image: ImageSettings;
  /** `w-term` by default; `flat` is for live images only (live/method.ts). */
  readonly method?: 'w-term' | 'flat';
  readonly plannedFor?: PlannedFor;
  readonly store?: ImagerStore;
  readonly onStep?: OnStep;
}

type Item = Integration | CardIntegration;

/** An integration alone, or with gains of its own; on the host or on a card. */
export type ImageInput = Item | { readonly integration: Item; readonly calibration: Calibrated };

/** Its arrays are filled anew by the next image. */
export type VisibilitySkyImage = SkyImage & Pick<VisibilityImage, 'beam'>;

interface Imager {
  readonly image: (item: Item, gains: Calibrated | undefined) => Promise<VisibilitySkyImage>;
  close(): Promise<void>;
}

/** The stage from integrations to images; its arrays are filled anew by each. */
export function prepareImage(settings: ImageStageSettings): Stage<ImageInput, VisibilitySkyImage> {
  const { autos } = settings;
  const imager = settings.method === 'flat' ? flatImager(settings) : wTermImager(settings);
  const account = emptyAccount();
  return {
    push: async (item, emit) => {
      const [recorded, gains] =
        'integration' in item ? [item.integration, item.calibration] : [item, settings.calibrated];
      settings.onStep?.(0.05, 'the sky');
      const sky = await imager.image(recorded, gains);
      refuseEmpty(
        sky.image,
        `every ${autos === 'include' ? 'visibility' : 'cross-correlation'} is flagged, missing or without gains`,
        autos === 'include'
          ? 'image another integration'
          : 'keep autocorrelations, or image another integration',
      );
      blankDiscs(sky, settings.image.blanked);
      account.images++;
      await emit(sky);
    },
    flush: () => Promise.resolve(),
    account: () => account,
    close: () => imager.close(),
  };
}

const withGains = (
  integration: Integration,
  gains: Calibrated | undefined,
): { readonly integration: Integration; readonly calibrated?: Calibrated } =>
  gains ? withoutLeakage(integration, gains) : { integration };

function wTermImager(settings: ImageStageSettings): Imager {
  const imager = prepareWTermImager(settings);
  return {
    image: async (item, gains) => {
      const { integration, calibrated } = withGains(await onHost(item), gains);
      return imager.image(integration, calibrated);
    },
    close: () => imager.close(),
  };
}

function flatImager(settings: ImageStageSettings): Imager {
  const { backend, telescope, frequenciesHz, weight, autos } = settings;
  const planned = new PlannedImager({
    telescope,
    frequenciesHz,
    settings: settings.image,
    plannedFor: settings.plannedFor,
    store: settings.store,
    prepare: (plan): Promise<VisibilityImager & Partial<CardVisibilityImager>> =>
      backend.kind === 'cuda'
        ? prepareCardVisibilityImager(plan, backend, { weight, autos })
        : prepareVisibilityImager(plan, backend),
  });
  const beam = settings.beam && { beam: settings.beam };
  let into: VisibilityImage | undefined;
  const fromHost = (
    imager: VisibilityImager,
    recorded: Integration,
    gains: Calibrated | undefined,
  ): Promise<VisibilityImage> => {
    const { integration, calibrated } = withGains(recorded, gains);
    return imager.image([integration], { weight, autos, ...beam, ...calibrated }, into);
  };
  return {
    image: async (item, gains) => {
      const frame = frameAtMiddle(telescope, item);
      const { plan, imager } = await planned.at(frame);
      const onCard =
        isOnCard(item) && gains?.leakage === undefined && beam !== undefined
          ? await imager.imageOnCard?.(item, gains)
          : undefined;
      const made = onCard ?? (into = await fromHost(imager, await onHost(item), gains));
      const { start, durationS } = item;
      return { ...made, plan, frame, start, durationS };
    },
    close: () => planned.close(),
  };
}
