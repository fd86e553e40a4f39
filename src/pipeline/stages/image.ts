/** Integrations to images, by the geometry of their own moment. */
import type { Backend } from '../../backend/backend.js';
import type { Integration } from '../../core/blocks.js';
import type { OnStep } from '../../core/progress.js';
import { prepareVisibilityImager, type VisibilityImage } from '../../image/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { frameAtMiddle } from '../geometry.js';
import { withoutLeakage } from '../gains/apply-visibilities.js';
import { refuseEmpty, type Calibrated, type ImageSettings, type SkyImage } from '../sky-image.js';
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

/** An integration alone, or with gains of its own. */
export type ImageInput =
  Integration | { readonly integration: Integration; readonly calibration: Calibrated };

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
    prepare: (plan) => prepareVisibilityImager(plan, backend),
  });
  const beam = settings.beam && { beam: settings.beam };
  const account = emptyAccount();
  let into: VisibilityImage | undefined;
  return {
    push: async (item, emit) => {
      const [recorded, gains] =
        'integration' in item ? [item.integration, item.calibration] : [item, settings.calibrated];
      const { integration, calibrated } = gains
        ? withoutLeakage(recorded, gains)
        : { integration: recorded, calibrated: undefined };
      const frame = frameAtMiddle(telescope, integration);
      settings.onStep?.(0.05, 'the plan');
      const { plan, imager } = await planned.at(frame);
      settings.onStep?.(0.5, 'the sky');
      into = await imager.image([integration], { weight, autos, ...beam, ...calibrated }, into);
      refuseEmpty(
        into.image,
        `every ${autos === 'include' ? 'visibility' : 'cross-correlation'} is flagged, missing or without gains`,
        autos === 'include'
          ? 'image another integration'
          : 'keep autocorrelations, or image another integration',
      );
      account.images++;
      const { start, durationS } = integration;
      await emit({ ...into, plan, frame, start, durationS });
    },
    flush: () => Promise.resolve(),
    account: () => account,
    close: () => planned.close(),
  };
}
