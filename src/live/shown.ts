/** What a page shows of a run. */
import type { Backend } from '../backend/backend.js';
import type { MethodUsed } from '../compose/index.js';
import type { Calibrated, CalibratedAt, ImageSettings, Lateness } from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { Steering } from './steering.js';

/** Images: as requested, and how they are made. */
export interface LiveImaging {
  /** From one image to the next. */
  readonly everyS: number;
  readonly by: 'visibilities' | 'direct';
  /** For images from visibilities, as chosen by method.ts; by default `w-term`. */
  readonly method?: 'w-term' | 'flat';
  readonly weight: 'natural' | 'uniform';
  /** If they change in time, evaluated at an instant. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Whatever the gains. By default images with gains are in Jy/beam, others in counts. */
  readonly unit?: 'Jy/beam' | 'counts';
  readonly image: ImageSettings;
  /** Method and error bound, if requested (method.ts). */
  readonly chosen?: MethodUsed;
  /** Whether autocorrelations are kept; by default direct images keep them. */
  readonly autos?: 'include' | 'leave-out';
}

export interface ShownRun {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly flaggedInputs?: Uint8Array;
  readonly integrationS: number;
  readonly imaging?: LiveImaging;
  readonly steering?: Steering;
  readonly isTracked?: boolean;
  /** Images that were left out while packets waited. */
  readonly late?: Pick<Lateness, 'count'>;
}
