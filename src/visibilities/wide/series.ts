/** A series of wide images: the same centre and pixels, each of its own time range. */
import { planeML, type PlaneML } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import { formatSeconds } from '../../core/units.js';
import { joinRows, prepareWideImager, type WideRows, usedBand } from '../../image/index.js';
import { skyFrame } from '../../sky/frame.js';
import {
  areBare,
  divideByProjection,
  frameAtMiddle,
  type Series,
  type SeriesImage,
  rowsOf,
  type Integrations,
} from '../../stages/index.js';
import { flaggedPixels, hiddenPixels } from './horizon.js';
import { blank, planFor, tryFit } from './image.js';
import { loneProduct, type WideSettings } from './settings.js';
import { surveyRows, type WideSetup } from './survey.js';
import { addBeyond, noneBeyond, prepareWeighed, refuseWeightless } from './weighed.js';

/** A limit, since a gap of days with a short --every would fill the disk with blank planes. */
const MOST_IMAGES = 100_000;

/** What holds for all images, once there are data in one. */
export type WideSeriesFacts = Pick<
  Series,
  'plan' | 'beam' | 'frequencyHz' | 'bandHz' | 'everyS' | 'centreName' | 'lost' | 'made'
>;

/** Images of a stream of integrations, one per time range, with u, v and w. `onImage`: called with each, in order. */
export async function imageWideSeries(
  integrations: Integrations,
  setup: WideSetup,
  settings: WideSettings,
  everyS: number,
  onImage?: (image: SeriesImage, facts: WideSeriesFacts) => Promise<void>,
): Promise<Series> {
  const { telescope, frequenciesHz, backend } = setup;
  const product = loneProduct(setup) ?? 'I';
  const { survey } = await surveyRows(integrations, setup, settings, [product]);
  const plan = planFor(survey, setup, settings);
  const intervals = 1 + Math.floor(survey.durationS / everyS);
  if (intervals > MOST_IMAGES)
    refuse(
      'image',
      `a series of ${intervals} images`,
      'give a longer products.images.every, or image a part of the data',
    );
  const imager = await prepareWideImager(plan, backend, setup);
  const hidden = hiddenPixels(plan, survey.centre, telescope, survey);
  const images: SeriesImage[] = [];
  const beyond = noneBeyond();
  let beam: ReturnType<typeof tryFit>;
  const lost: number[] = [];
  const band = usedBand(frequenciesHz, setup.channelWidthHz, survey.channelWeights);
  const facts = (): WideSeriesFacts => ({
    everyS,
    centreName: survey.centre.name,
    beam,
    lost,
    made: { method: imager.method, accuracy: plan.accuracy },
    plan: {
      pixels: plan.pixels,
      pixelSize: plan.pixelCosine,
      field: survey.pixels.field,
      axes: survey.frame.tangentAxes(survey.centre.position(survey.frame)),
    },
    frequencyHz: band.frequencyHz,
    bandHz: band.widthHz,
  });
  let shown = 0;
  const push = async (
    plane: PlaneML,
    start: Instant,
    durationS: number,
    exposureS: number,
  ): Promise<void> => {
    const frame = skyFrame(telescope.site, addSeconds(start, durationS / 2));
    images.push({ plane, start, durationS, exposureS, frame, centre: survey.centre.position(frame) });
    // Without data in any there is no beam yet, and perhaps nothing to image.
    if (lost.length === images.length) return;
    // Without a listener nothing would count: the arguments of an optional call are not computed.
    while (onImage && shown < images.length) await onImage(images[shown++], facts());
  };
  const noValues = planeML(new Float64Array(plan.pixels ** 2).fill(Number.NaN), plan.pixels);
  /** Its plane is written blank, so that planes are evenly spaced in time. */
  const pushEmpty = (interval: number): Promise<void> => {
    lost.push(interval);
    return push(noValues, addSeconds(survey.start, interval * everyS), everyS, 0);
  };
  const make = async (group: readonly Integration[], interval: number): Promise<void> => {
    while (images.length < interval) await pushEmpty(images.length);
    const each = group.flatMap((one) =>
      rowsOf(one, { telescope, frequenciesHz, centre: survey.centre, calibrated: setup.calibrated }, [
        product,
      ]),
    );
    const blocks = each.filter(({ uvwM }) => uvwM.length > 0);
    setup.onStep?.(`image ${images.length + 1}`);
    if (blocks.length === 0) {
      await pushEmpty(interval);
      return;
    }
    const rows = joinRows(blocks);
    const weighing = await prepareWeighed(plan, settings, () => once(rows));
    addBeyond(beyond, weighing.beyond);
    const [weighed] = await all(weighing.blocks);
    await imager.accumulate(weighed);
    const { image, weightSum } = await imager.finish();
    if (!(weightSum > 0)) {
      await pushEmpty(interval);
      return;
    }
    if (lost.length === images.length) {
      const { uvwM, weights } = weighed;
      await imager.accumulate({ uvwM, weights, frequenciesHz: weighed.frequenciesHz });
      beam = tryFit(plan, (await imager.finish()).image);
    }
    if (setup.response !== 'kept' && areBare(telescope))
      divideByProjection(
        image,
        plan,
        each.map(({ weights }, k) => {
          const frame = frameAtMiddle(telescope, group[k]);
          const axes = frame.tangentAxes(survey.centre.position(frame));
          return { axes, weight: weights.reduce((sum, weight) => sum + weight, 0) };
        }),
      );
    const { start } = group[0];
    const last = group[group.length - 1];
    const durationS = secondsBetween(start, last.start) + last.durationS;
    blank(image, hidden);
    blank(image, flaggedPixels(plan, survey.centre, setup, { start, durationS }));
    const exposureS = group.reduce((sum, one) => sum + one.durationS, 0);
    await push(planeML(image, plan.pixels), start, durationS, exposureS);
  };
  try {
    let group: Integration[] = [];
    let number = 0;
    for await (const integration of integrations()) {
      // A slightly early time is rounding: Julian Dates of UVH5 resolve 40 µs.
      const hairS = Math.max(1e-6, 0.01 * integration.durationS);
      if (integration.durationS > everyS + hairS)
        refuse(
          'image',
          `integrations of ${formatSeconds(integration.durationS)} are longer than ${formatSeconds(everyS)}`,
          `give products.images.every: ${formatSeconds(integration.durationS)} or more`,
        );
      const now = Math.floor((secondsBetween(survey.start, integration.start) + hairS) / everyS);
      if (now !== number && group.length > 0) {
        await make(group, number);
        group = [];
      }
      number = now;
      group.push(integration);
    }
    if (group.length > 0) await make(group, number);
  } finally {
    await imager.close();
  }
  if (lost.length === images.length) refuseWeightless(beyond);
  return { ...facts(), images, hands: survey.hands, smearing: survey.smearing, beyond };
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
