/** A series of wide images: the same centre and the same pixels, each of its own stretch of time. */
import { planeML } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, secondsBetween } from '../../core/instant.js';
import { joinRows, prepareWideImager, type WideRows, usedBand } from '../../image/index.js';
import { skyFrame } from '../../sky/frame.js';
import type { Series, SeriesImage } from './film.js';
import { hiddenPixels } from './horizon.js';
import { blank, planFor, prepareWeighed, tryFit } from './image.js';
import { loneProduct } from './choose-products.js';
import { rowsOf, type Integrations } from './rows.js';
import type { WideSettings } from './settings.js';
import { surveyRows, type WideRoad } from './survey.js';

/** Images of a stream of integrations, one for every stretch of time, by u, v and w. */
export async function imageWideSeries(
  integrations: Integrations,
  road: WideRoad,
  settings: WideSettings,
  everyS: number,
): Promise<Series> {
  const { telescope, frequenciesHz, backend } = road;
  const product = loneProduct(road) ?? 'I';
  const { survey } = await surveyRows(integrations, road, settings, product);
  const plan = planFor(survey, road, settings);
  const imager = await prepareWideImager(plan, backend, road);
  const hidden = hiddenPixels(plan, survey.centre, telescope, survey);
  const images: SeriesImage[] = [];
  let beam: ReturnType<typeof tryFit>;
  const make = async (group: readonly Integration[]): Promise<void> => {
    const blocks = group
      .map((one) =>
        rowsOf(one, {
          ...{ telescope, frequenciesHz, centre: survey.centre, product },
          ...(road.calibrated && { calibrated: road.calibrated }),
        }),
      )
      .filter(({ uvwM }) => uvwM.length > 0);
    if (blocks.length === 0) return;
    const rows = joinRows(blocks);
    const [weighed] = await all(await prepareWeighed(plan, settings, () => once(rows)));
    await imager.accumulate(weighed);
    const { image } = await imager.finish();
    blank(image, hidden);
    if (images.length === 0) {
      const { uvwM, weights } = weighed;
      await imager.accumulate({ uvwM, weights, frequenciesHz: weighed.frequenciesHz });
      beam = tryFit(plan, (await imager.finish()).image);
    }
    const { start } = group[0];
    const last = group[group.length - 1];
    const durationS = secondsBetween(start, last.start) + last.durationS;
    const frame = skyFrame(telescope.site, addSeconds(start, durationS / 2));
    road.onStep?.(`image ${images.length + 1}`);
    images.push({
      plane: planeML(image, plan.pixels),
      start,
      durationS,
      frame,
      centre: survey.centre.position(frame),
    });
  };
  try {
    let group: Integration[] = [];
    let number = 0;
    for await (const integration of integrations()) {
      // A hair early is rounding: Julian Dates of UVH5 resolve 40 µs.
      const hairS = Math.max(1e-6, 0.01 * integration.durationS);
      const now = Math.floor((secondsBetween(survey.start, integration.start) + hairS) / everyS);
      if (now !== number && group.length > 0) {
        await make(group);
        group = [];
      }
      number = now;
      group.push(integration);
    }
    if (group.length > 0) await make(group);
  } finally {
    await imager.close();
  }
  const band = usedBand(frequenciesHz, road.channelWidthHz, survey.channelWeights);
  return {
    ...{ images, everyS, centreName: survey.centre.name, ...(beam && { beam }) },
    made: { method: imager.method, accuracy: plan.accuracy },
    plan: {
      pixels: plan.pixels,
      pixelSize: plan.pixelCosine,
      field: survey.pixels.field,
      axes: survey.frame.tangentAxes(survey.centre.position(survey.frame)),
    },
    frequencyHz: band.frequencyHz,
    bandHz: band.widthHz,
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- a stream of one
async function* once(rows: WideRows): AsyncIterable<WideRows> {
  yield rows;
}

async function all(blocks: () => AsyncIterable<WideRows>): Promise<WideRows[]> {
  const rows: WideRows[] = [];
  for await (const one of blocks()) rows.push(one);
  return rows;
}
