/**
 * The latest picture of the sky, drawn by a separate thread: images that arrive while it draws are skipped, and the
 * next image after that is drawn. The file is replaced atomically, so viewers always see a complete picture.
 */
import { Worker } from 'node:worker_threads';
import type { Instant } from '../../core/instant.js';
import type { SkyPlan } from '../../draw/index.js';
import type { ImagePlan } from '../../image/index.js';
import type { Message } from '../../messages/index.js';
import type { SkyFiles } from '../../sky/use-sky.js';
import type { PictureOptions, SkyImage } from '../../stages/index.js';
import type { Recorder } from './recorder.js';

export interface ImageRecorder extends Recorder {
  /** Copies what it needs at once. A picture is left out while the previous one is drawn. */
  show(sky: SkyImage, unit: string): void | Promise<void>;
  readonly drawn: number;
}

/** Messages to the thread that draws, and from it. */
export interface PictureSettings extends Pick<
  PictureOptions,
  'telescope' | 'feeds' | 'method' | 'gainsAre' | 'channelWidthHz' | 'look'
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
  readonly unit: string;
}
export interface PictureDone {
  readonly fault?: string;
  /** On orbital elements, where they differ from those before. */
  readonly messages?: readonly Message[];
}

/** Drawing takes at most a third of a processor: correlating has priority. */
const REST = 2;

export function openLatestPicture(
  settings: PictureSettings,
  onFault: (why: string) => void,
  onMessage: (message: Message) => void = () => undefined,
): ImageRecorder {
  const worker = new Worker(new URL('./picture-thread.js', import.meta.url), { workerData: settings });
  let drawn = 0;
  let isBusy = false;
  let beganMs = 0;
  let restUntilMs = 0;
  let idle: () => void = () => undefined;
  worker.on('message', ({ fault, messages = [] }: PictureDone) => {
    messages.forEach(onMessage);
    if (fault === undefined) drawn++;
    else onFault(fault);
    isBusy = false;
    const now = performance.now();
    restUntilMs = now + REST * (now - beganMs);
    idle();
  });
  worker.on('error', (error) => {
    isBusy = true;
    onFault(error.message);
    idle();
  });
  return {
    paths: [],
    get drawn() {
      return drawn;
    },
    show: ({ image, weights, plan, start, durationS }, unit) => {
      if (isBusy || performance.now() < restUntilMs) return;
      isBusy = true;
      beganMs = performance.now();
      const { pixels, pixelSize, field, axes, channels, products, polarisations, frequenciesHz } = plan;
      const task: PictureTask = {
        image: image.slice(),
        weights: weights && Float64Array.from(weights),
        plan: { pixels, pixelSize, field, axes, channels, products, polarisations },
        frequenciesHz,
        start,
        durationS,
        unit,
      };
      worker.postMessage(task, [task.image.buffer as ArrayBuffer]);
    },
    close: () => Promise.resolve(),
    end: async () => {
      if (isBusy && worker.threadId > 0) await new Promise<void>((resolve) => (idle = resolve));
      await worker.terminate();
    },
  };
}
