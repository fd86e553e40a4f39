/**
 * The latest picture of the sky, drawn by a thread of its own: an image that comes while one is being drawn waits, and
 * the next one takes its place. The file is replaced at once, so that whoever looks sees a whole picture.
 */
import { Worker } from 'node:worker_threads';
import type { Closable } from '../../core/closing.js';
import { averageChannels, stokesI } from '../../image/index.js';
import type { SkyImage } from '../sky-image.js';
import type { PictureDone, PictureSettings, PictureTask } from './picture-task.js';

export interface LatestPicture extends Closable {
  /** Shows an image as soon as the one before is drawn; takes what it needs of it at once. */
  show(sky: SkyImage): void;
  readonly drawn: number;
}

export function openLatestPicture(settings: PictureSettings, onFault: (why: string) => void): LatestPicture {
  const worker = new Worker(new URL('./picture-thread.js', import.meta.url), { workerData: settings });
  let drawn = 0;
  let isBusy = false;
  let waiting: PictureTask | undefined;
  let idle: () => void = () => undefined;
  const send = (task: PictureTask): void => {
    isBusy = true;
    worker.postMessage(task, [task.plane.buffer as ArrayBuffer]);
  };
  worker.on('message', ({ fault }: PictureDone) => {
    if (fault === undefined) drawn++;
    else onFault(fault);
    isBusy = false;
    const next = waiting;
    waiting = undefined;
    if (next) send(next);
    else idle();
  });
  worker.on('error', (error) => {
    isBusy = true;
    onFault(error.message);
    idle();
  });
  return {
    get drawn() {
      return drawn;
    },
    show: ({ image, plan, start, durationS }) => {
      const { pixels, pixelSize, field, axes, polarisations, frequenciesHz } = plan;
      const plane = stokesI(averageChannels(image, plan), plan, 0);
      const task: PictureTask = {
        plane,
        plan: { pixels, pixelSize, field, axes },
        ...{ polarisations, frequenciesHz, start, durationS },
      };
      if (isBusy) waiting = task;
      else send(task);
    },
    close: async () => {
      if (isBusy && worker.threadId > 0) await new Promise<void>((resolve) => (idle = resolve));
      await worker.terminate();
    },
  };
}
