/** Integrations to images, by the geometry of their own moment. */
import type { Backend } from '../../backend/backend.js';
import type { Integration } from '../../core/blocks.js';
import type { OnStep } from '../../core/progress.js';
import { prepareVisibilityImager, type VisibilityImage, type VisibilityImager } from '../../image/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { frameAtMiddle } from '../geometry.js';
import { withoutLeakage } from '../gains/apply-visibilities.js';
import { refuseEmpty, type Calibrated, type ImageSettings, type SkyImage } from '../sky-image.js';
import { prepareCardVisibilityImager, type CardVisibilityImager } from './card/images.js';
import { isOnCard, onHost, type CardIntegration } from './card/integrations.js';
import { PlannedImager, type PlannedFor } from './planned-imager.js';
import { emptyAccount, type Stage } from './stage.js';

export interface ImageStageSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly weight: 'natural' | 'uniform';
  readonly autos: 'include' | 'leave-out';
  /** Where nobody looks at it. */
  readonly beam?: 'leave-out';
  /** For integrations that bring no gains of their own. */
  readonly calibrated?: Calibrated;
  readonly image: ImageSettings;
  readonly plannedFor?: PlannedFor;
  readonly onStep?: OnStep;
}

type Item = Integration | CardIntegration;

/** An integration alone, or with gains of its own; on the host or on a card. */
export type ImageInput = Item | { readonly integration: Item; readonly calibration: Calibrated };

/** Its arrays are filled anew by the next image. */
export type VisibilitySkyImage = SkyImage & Pick<VisibilityImage, 'beam'>;

/** The stage from integrations to images; its arrays are filled anew by each. */
export function prepareImage(settings: ImageStageSettings): Stage<ImageInput, VisibilitySkyImage> {
  const { backend, telescope, frequenciesHz, weight, autos } = settings;
  const planned = new PlannedImager({
    telescope,
    frequenciesHz,
    settings: settings.image,
    ...(settings.plannedFor && { plannedFor: settings.plannedFor }),
    prepare: (plan): Promise<VisibilityImager & Partial<CardVisibilityImager>> =>
      backend.kind === 'cuda'
        ? prepareCardVisibilityImager(plan, backend, { weight, autos })
        : prepareVisibilityImager(plan, backend),
  });
  const beam = settings.beam && { beam: settings.beam };
  const account = emptyAccount();
  let into: VisibilityImage | undefined;
  const fromHost = (
    imager: VisibilityImager,
    recorded: Integration,
    gains: Calibrated | undefined,
  ): Promise<VisibilityImage> => {
    const { integration, calibrated } = gains
      ? withoutLeakage(recorded, gains)
      : { integration: recorded, calibrated: undefined };
    return imager.image([integration], { weight, autos, ...beam, ...calibrated }, into);
  };
  return {
    push: async (item, emit) => {
      const [recorded, gains] =
        'integration' in item ? [item.integration, item.calibration] : [item, settings.calibrated];
      const frame = frameAtMiddle(telescope, recorded);
      settings.onStep?.(0.05, 'the plan');
      const { plan, imager } = await planned.at(frame);
      settings.onStep?.(0.5, 'the sky');
      const onCard =
        isOnCard(recorded) && gains?.leakage === undefined && beam !== undefined
          ? await imager.imageOnCard?.(recorded, gains)
          : undefined;
      const made = onCard ?? (into = await fromHost(imager, await onHost(recorded), gains));
      refuseEmpty(
        made.image,
        `every ${autos === 'include' ? 'visibility' : 'cross-correlation'} is flagged, missing or without gains`,
        autos === 'include'
          ? 'image another integration'
          : 'keep autocorrelations, or image another integration',
      );
      account.images++;
      const { start, durationS } = recorded;
      await emit({ ...made, plan, frame, start, durationS });
    },
    flush: () => Promise.resolve(),
    account: () => account,
    close: () => planned.close(),
  };
}
