/** A series of images: what both ways of imaging hand over for each, and how they become a cube and an animation. */
import { present } from '../core/present.js';
import { planeML, type PlaneML } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import {
  imageStretch,
  renderAnimation,
  renderContactSheet,
  skyPicture,
  type SkyPlan,
} from '../draw/index.js';
import { encodeFitsSeries, openOutputSet } from '../formats/index.js';
import type { BeyondCells, FittedBeam, HandTally, WideMethod } from '../image/index.js';
import type { SkyFrame, SkyPosition } from '../sky/frame.js';
import { brightnessFacts, labelsOf, type PictureOptions } from './products.js';
import type { Smearing } from './smearing.js';

export interface SeriesImage {
  /** Stokes I, or the only product. */
  readonly plane: PlaneML;
  readonly start: Instant;
  readonly durationS: number;
  readonly exposureS?: number;
  readonly frame: SkyFrame;
  readonly centre: SkyPosition;
}

export interface Series {
  readonly images: readonly SeriesImage[];
  readonly plan: SkyPlan;
  readonly beam?: FittedBeam;
  readonly frequencyHz: number;
  readonly bandHz: number;
  readonly everyS: number;
  readonly centreName: string;
  /** Channels that are blank, since they have no data in this time range. */
  readonly lost?: readonly number[];
  /** Of images by u, v and w. */
  readonly hands?: HandTally;
  readonly smearing?: Smearing;
  readonly beyond?: BeyondCells;
  /** How images by u, v and w were made. */
  readonly made?: { readonly method: WideMethod; readonly accuracy: number };
}

type SeriesOptions = Omit<PictureOptions, 'channels' | 'channelWidthHz'>;

/** Wide enough to read, small enough to send. */
const ANIMATION_WIDTH = 600;
/** Most values that the colour scale is chosen from. */
const MOST_VALUES = 2 ** 20;

/** A contact sheet of more images would be too small to read. */
const MOST_ON_SHEET = 36;
const SHEET_WIDTH = 2400;

export interface SeriesPaths {
  readonly fits: string;
  /** An animation, where requested. */
  readonly png?: string;
  /** Side by side, where requested. */
  readonly sheet?: string;
}

/** Evenly spaced images from the first on, few enough for a contact sheet. */
export const onContactSheet = <One>(images: readonly One[]): One[] => {
  const step = Math.ceil(images.length / MOST_ON_SHEET);
  return images.filter((_, k) => k % step === 0);
};

/** Writes images one after the other as a cube in time, an animation, and a contact sheet where requested. */
export async function writeSeries(paths: SeriesPaths, series: Series, options: SeriesOptions): Promise<void> {
  const { images, plan, beam, frequencyHz, bandHz } = series;
  if (images.length === 0)
    refuse('image', 'no image came of the series', 'give a shorter products.images.every');
  const { telescope } = options;
  const stretch = imageStretch(jointly(images));
  const blank = new Set(series.lost);
  const isDrawn = paths.png !== undefined || paths.sheet !== undefined;
  const shownImages = isDrawn ? images.filter((_, k) => !blank.has(k)) : [];
  const pictures = shownImages.map(({ plane, start, durationS, exposureS, frame }) =>
    skyPicture({
      ...labelsOf(
        { frame, start, durationS, exposureS, frequencyHz, bandHz, digits: durationS < 1 ? 3 : 0 },
        options,
      ),
      plane,
      plan,
      stretch,
      beam,
    }),
  );
  const animation =
    paths.png === undefined
      ? undefined
      : await renderAnimation(pictures, { width: options.width ?? ANIMATION_WIDTH });
  const shown = onContactSheet(pictures);
  const columns = Math.ceil(Math.sqrt(shown.length));
  const sheet =
    paths.sheet === undefined
      ? undefined
      : await renderContactSheet(shown, { columns, width: Math.floor(SHEET_WIDTH / columns) });
  const set = await openOutputSet([paths.fits, paths.png, paths.sheet].filter((path) => path !== undefined));
  try {
    const middle = images[Math.floor(images.length / 2)];
    await encodeFitsSeries(set.files[0], {
      pixels: plan.pixels,
      pixelSize: plan.pixelSize,
      centre: middle.centre,
      object: series.centreName,
      beam,
      telescope: telescope.name,
      unit: options.unit,
      frequencyHz,
      everyS: series.everyS,
      planes: images,
      history: present(
        ...brightnessFacts(options).history,
        images.some(({ centre }) => centre.raDeg !== middle.centre.raDeg) &&
          'each image has a centre of its own: CRVAL is of the middle one, table TIMES has all',
      ),
    });
    const drawn = [animation, sheet].filter((one) => one !== undefined);
    for (const [k, one] of drawn.entries()) await set.files[k + 1].write(one);
    await set.finish();
  } catch (error) {
    await set.abandon();
    throw error;
  }
}

/** One colour scale: values of all images, thinned where they are many. */
function jointly(images: readonly SeriesImage[]): PlaneML {
  const size = images[0].plane.length;
  const step = Math.ceil((size * images.length) / MOST_VALUES);
  const side = 2 * Math.ceil(Math.sqrt((size * images.length) / step) / 2);
  const values = new Float64Array(side * side).fill(Number.NaN);
  let to = 0;
  for (const { plane } of images)
    for (let at = 0; at < size && to < values.length; at += step) values[to++] = plane[at];
  return planeML(values, side);
}
