/**
 * Files by time, written by a separate thread: an integration of LWA-SV's group is 278 MB, and the thread that queues
 * work for a card must not wait for it. Arrays are transferred, not copied.
 */
import { Worker } from 'node:worker_threads';
import type { Integration } from '../../core/blocks.js';
import { CorellaError, type Refusal } from '../../core/errors.js';
import { onDisk } from '../../formats/index.js';
import { positionFrom, type FileEvent, type FileSettings, type LiveFiles } from './files.js';

export interface FileThreadSettings extends FileSettings {
  /** A table of Earth orientation parameters instead of the built-in one. */
  readonly eop?: string;
}

/** The thread has the settings without the phase centre, which is a function of time: positions come with the data. */
export type FileTask =
  { readonly append: Integration; readonly position: ReturnType<typeof positionFrom> } | 'close';

export type FileAnswer =
  | { readonly event: FileEvent }
  | {
      readonly done: Pick<LiveFiles, 'paths' | 'written' | 'unwritten'>;
      readonly fault?: Refusal | { readonly message: string };
    };

export function openFilesByThread(
  { centre, ...settings }: FileThreadSettings,
  onEvent: (event: FileEvent) => void,
): LiveFiles {
  const worker = new Worker(new URL('./file-thread.js', import.meta.url), { workerData: settings });
  let state: Pick<LiveFiles, 'paths' | 'written' | 'unwritten'> = { paths: [], written: 0, unwritten: 0 };
  let asking: { resolve(): void; reject(error: unknown): void } | undefined;
  let broken: Error | undefined;
  worker.on('message', (answer: FileAnswer) => {
    if ('event' in answer) {
      onEvent(answer.event);
      return;
    }
    const waiting = asking;
    asking = undefined;
    state = answer.done;
    const { fault } = answer;
    if (fault) waiting?.reject('what' in fault ? new CorellaError(fault) : new Error(fault.message));
    else waiting?.resolve();
  });
  worker.on('error', (error) => {
    broken = error;
    asking?.reject(error);
    asking = undefined;
  });
  const ask = (task: FileTask, transfer: ArrayBuffer[] = []): Promise<void> =>
    onDisk(
      () =>
        new Promise((resolve, reject) => {
          if (broken) reject(broken);
          else if (asking) reject(new Error('files: an integration before the last one was written'));
          else {
            asking = { resolve, reject };
            worker.postMessage(task, transfer);
          }
        }),
    );
  return {
    get paths() {
      return state.paths;
    },
    get written() {
      return state.written;
    },
    get unwritten() {
      return state.unwritten;
    },
    append: (integration) => {
      const { visibilities, counts } = integration;
      const position = positionFrom({ ...settings, centre }, integration);
      const buffers = [visibilities.buffer as ArrayBuffer, counts.buffer as ArrayBuffer];
      return ask({ append: integration, position }, buffers);
    },
    close: () => ask('close'),
    end: async () => {
      await worker.terminate();
    },
  };
}
