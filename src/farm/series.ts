/** From results to a series of images, as one process would have made it. */
import { planeML } from '../core/axes.js';
import type { Instant } from '../core/instant.js';
import { stationBeam } from '../image/index.js';
import { centreAt, planSky, withCentre } from '../pipeline/sky-image.js';
import type { Series, SeriesImage } from '../pipeline/wide/film.js';
import { skyFrame } from '../sky/frame.js';
import { boxesOf, type FarmPlan } from './plan.js';
import { floatsOf } from './result.js';
import type { Collected, Results } from './results.js';
import { imageSettingsOf } from './work.js';

/** What the files of a series say beside its pixels. */
export interface SeriesProduct {
  readonly kind: 'series';
  readonly out: string;
  readonly sheet?: true;
  readonly frequenciesHz: readonly number[];
  readonly channelWidthHz: number;
  readonly unit: 'Jy/beam' | 'counts';
  readonly history: readonly string[];
  /** Names to write on the pictures. */
  readonly sources: string;
  readonly eop?: string;
}

/** Everything that `writeSeries` wants of the images. */
export async function collectSeries(
  { cut, work }: FarmPlan,
  { frequenciesHz: listed, channelWidthHz }: SeriesProduct,
  results: Results,
): Promise<{ readonly series: Series; readonly collected: Collected }> {
  const { image: asked } = work;
  if (!asked) throw new Error('a series without its settings');
  const { telescope, everyS } = asked;
  const frequenciesHz = Float64Array.from(listed);
  const settings = withCentre(telescope, frequenciesHz, imageSettingsOf(asked));
  const images: SeriesImage[] = [];
  let plannedFor: Instant | undefined;
  for (const box of boxesOf(cut)) {
    const { head, body } = await results.of(box);
    for (const { image, offsetBytes, sizeBytes } of head.parts) {
      if (!image) throw new Error(`${head.job}: its result holds no images`);
      const { start, durationS, moment } = image;
      const pixels = Math.sqrt(sizeBytes / 8);
      const frame = skyFrame(telescope.site, moment);
      plannedFor ??= moment;
      const plane = planeML(floatsOf(body, offsetBytes, pixels * pixels), pixels);
      images.push({ plane, start, durationS, frame, centre: centreAt(frame, settings.normalEnu).position });
    }
    results.letGo([box]);
  }
  if (!plannedFor) throw new Error('a recording gave no image');
  const first = skyFrame(telescope.site, plannedFor);
  const plan = planSky(telescope, first, frequenciesHz, settings);
  const beam = stationBeam(plan);
  return {
    series: {
      ...{
        images,
        plan,
        everyS,
        centreName: centreAt(first, settings.normalEnu).name,
        ...(beam && { beam }),
      },
      frequencyHz: (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2,
      bandHz: channelWidthHz * frequenciesHz.length,
    },
    collected: results.collected(),
  };
}
