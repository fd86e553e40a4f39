/** Writes integrations on a separate thread; started by files-by-thread.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { CorellaError } from '../../core/errors.js';
import { readEarthOrientation } from '../../sky/earth/orientation-file.js';
import { useEarthOrientation } from '../../sky/earth/orientation.js';
import type { FileAnswer, FileTask, FileThreadSettings } from './files-by-thread.js';
import { FilesByTime } from './files.js';

const settings = workerData as FileThreadSettings;
const say = (answer: FileAnswer): void => parentPort?.postMessage(answer);
const files = new FilesByTime(settings, (event) => {
  say({ event });
});
const ready = (async () => {
  if (settings.eop !== undefined) useEarthOrientation(await readEarthOrientation(settings.eop));
})();

async function work(task: FileTask): Promise<void> {
  await ready;
  await (task === 'close' ? files.close() : files.append(task.append, task.position));
}

const done = (): { paths: string[]; written: number; unwritten: number } => {
  const { paths, written, unwritten } = files;
  return { paths, written, unwritten };
};

parentPort?.on('message', (task: FileTask) => {
  work(task).then(
    () => {
      say({ done: done() });
    },
    (error: unknown) => {
      const fault =
        error instanceof CorellaError
          ? { where: error.where, what: error.what, fix: error.fix }
          : { message: error instanceof Error ? error.message : String(error) };
      say({ done: done(), fault });
    },
  );
});
