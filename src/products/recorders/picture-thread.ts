/** Draws pictures on a separate thread; started by pictures.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { imageCPML, weightsCP } from '../../core/axes.js';
import { addSeconds } from '../../core/instant.js';
import { renderPng, skyPicture } from '../../draw/index.js';
import { averageChannels, stokesI } from '../../image/index.js';
import { prepareSkyModels, writeFileWhole } from '../../formats/index.js';
import { orbitMessages, type Message } from '../../messages/index.js';
import { skyFrame } from '../../sky/frame.js';
import { sourcesNamed } from '../../sky/chosen-sources.js';
import { takeOrbitReport } from '../../sky/orbits/report.js';
import { useSky } from '../../sky/use-sky.js';
import { pictureParts } from '../../stages/index.js';
import type { PictureDone, PictureSettings, PictureTask } from './pictures.js';

const settings = workerData as PictureSettings;
// Their messages were reported by the main thread.
if (settings.sources !== 'all') await prepareSkyModels(settings.sources.join());
await useSky(settings.sky);
const sources = sourcesNamed(settings.sources);

const reported = new Set<string>();
/** Each warning once for the same satellites, the ages once. */
const newMessages = (): Message[] =>
  orbitMessages(takeOrbitReport()).filter(({ code, severity, data }) => {
    const key = severity === 'note' ? code : JSON.stringify([code, data]);
    return !reported.has(key) && reported.add(key);
  });

async function draw({
  image,
  weights,
  plan,
  start,
  durationS,
  frequenciesHz,
  unit,
}: PictureTask): Promise<void> {
  const { channels, products, pixels, polarisations } = plan;
  const average = averageChannels(
    imageCPML(image, channels, products, pixels),
    plan,
    weights && weightsCP(weights, channels, products),
  );
  const frame = skyFrame(settings.telescope.site, addSeconds(start, durationS / 2));
  const parts = pictureParts(
    { frame, start, durationS, polarisations, frequenciesHz },
    { ...settings, unit, sources },
  );
  const picture = skyPicture({ ...parts, plane: stokesI(average, plan, 0), plan });
  await writeFileWhole(settings.path, await renderPng(picture, { width: settings.width }));
}

parentPort?.on('message', (task: PictureTask) => {
  draw(task).then(
    () => parentPort?.postMessage({ messages: newMessages() } satisfies PictureDone),
    (error: unknown) =>
      parentPort?.postMessage({
        fault: error instanceof Error ? error.message : String(error),
      } satisfies PictureDone),
  );
});
