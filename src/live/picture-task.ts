/** Messages between the main thread and the thread that draws. */
import type { Instant } from '../core/instant.js';
import type { SkyPlan } from '../draw/index.js';
import type { ImagePlan } from '../image/index.js';
import type { Message } from '../messages/index.js';
import type { SkyFiles } from '../sky/use-sky.js';
import type { PictureOptions } from '../stages/index.js';

export interface PictureSettings extends Pick<
  PictureOptions,
  'telescope' | 'feeds' | 'method' | 'unit' | 'gainsAre' | 'channelWidthHz' | 'look'
> {
  readonly path: string;
  readonly width: number;
  /** Sources to mark: names, NAME:RA_DEG:DEC_DEG:FLUX_JY, or sky model files. */
  readonly sources: 'all' | readonly string[];
  readonly sky: SkyFiles;
}

export interface PictureTask {
  /** image : [c][product][m][l], a copy. */
  readonly image: Float64Array;
  /** weights : [c][product]. */
  readonly weights?: Float64Array;
  readonly plan: SkyPlan & Pick<ImagePlan, 'channels' | 'products' | 'polarisations'>;
  readonly frequenciesHz: Float64Array;
  readonly start: Instant;
  readonly durationS: number;
  /** If it may change during the run. */
  readonly unit?: string;
}
export interface PictureDone {
  readonly fault?: string;
  /** On orbital elements, where they differ from those before. */
  readonly messages?: readonly Message[];
}
