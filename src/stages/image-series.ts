/** A series of images: what both ways of imaging hand over for each, and how they become a cube and an animation. */
import { planeML, type PlaneML } from '../core/axes.js';
import { InterruptedError } from '../core/ending.js';
import { CorellaError, refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import {
  imageStretch,
  renderAnimation,
  renderContactSheet,
  skyPicture,
  type SkyPlan,
} from '../draw/index.js';
import { fitsSeriesWriter, openOutput, openOutputSet, type FitsSeriesFacts } from '../formats/index.js';
import type { BeyondCells, FittedBeam, HandTally, WideMethod } from '../image/index.js';
import type { SkyFrame, SkyPosition } from '../sky/frame.js';
import { brightnessFacts, labelsOf, type PictureOptions } from './products.js';
import type { Smearing } from './smearing.js';
import { endsEarly } from './write.js';

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

/** What holds for all images of a file, and how they are labelled. */
export interface SeriesFacts {
  readonly series: Pick<
    Series,
    'plan' | 'beam' | 'frequencyHz' | 'bandHz' | 'everyS' | 'centreName' | 'lost'
  >;
  readonly options: SeriesOptions;
}

/** A cube in time that is written image by image; an animation and a contact sheet are drawn at its end. */
export interface SeriesFile {
  add(image: SeriesImage): Promise<void>;
  finish(): Promise<void>;
  /** Ends early, also after a failure; returns the number of images in the file. With none, no file remains. */
  keep(): Promise<number>;
  abandon(): Promise<void>;
}

/**
 * `factsAt`: called at the beginning and the end, with the middle image. `appears`: the file has its name from the first
 * image on. `stays`: it stays under its temporary name if the process ends before it is finished.
 */
export async function openSeries(
  paths: SeriesPaths,
  factsAt: (middle: Pick<SeriesImage, 'frame'>) => SeriesFacts,
  { appears = false, stays = false } = {},
): Promise<SeriesFile> {
  const isDrawn = paths.png !== undefined || paths.sheet !== undefined;
  /** Without their planes, unless they are drawn. */
  const images: (Omit<SeriesImage, 'plane'> & { readonly plane?: PlaneML })[] = [];
  const output = await openOutput(paths.fits);
  let writer: ReturnType<typeof fitsSeriesWriter> | undefined;
  let isFinished = false;
  const facts = (): SeriesFacts => factsAt(images[Math.floor(images.length / 2)]);
  const end = async (): Promise<void> => {
    if (!writer) refuse('image', 'no image came of the series', 'give a shorter products.images.every');
    const now = facts();
    await writer.finish(headerFacts(now));
    await output.finish();
    isFinished = true;
    if (!isDrawn) return;
    const drawn = await drawSeries(paths, images as SeriesImage[], now);
    const set = await openOutputSet(drawn.map(({ path }) => path));
    try {
      for (const [k, { bytes }] of drawn.entries()) await set.files[k].write(bytes);
      await set.finish();
    } catch (error) {
      await set.abandon();
      throw error;
    }
  };
  return {
    add: async (image) => {
      images.push(isDrawn ? image : { ...image, plane: undefined });
      try {
        writer ??= fitsSeriesWriter(output, headerFacts(facts()));
        await writer.add(image);
      } catch (error) {
        images.pop();
        throw error;
      }
      if (stays) output.worthKeeping();
      if (appears) await output.appear();
    },
    finish: end,
    keep: async () => {
      if (isFinished || !writer || images.length === 0) {
        await output.abandon();
        return images.length;
      }
      await writer.keep(headerFacts(facts()));
      await output.finish();
      isFinished = true;
      return images.length;
    },
    abandon: () => output.abandon(),
  };
}

/** On a full disk the images stay, without their table and pictures if need be, and the error says so. */
async function keptAfter(error: unknown, file: SeriesFile, path: string): Promise<unknown> {
  if (!(error instanceof CorellaError) || error instanceof InterruptedError || !endsEarly(error)) {
    await file.abandon();
    return error;
  }
  const { where, what, fix, cause } = error;
  const kept = await file.keep();
  const holds = kept === 1 ? '1 image' : `${kept} images`;
  return kept === 0
    ? error
    : new CorellaError({ where, what: `${what}; ${path} is whole and holds ${holds}`, fix }, { cause });
}

export async function finishSeries(file: SeriesFile, path: string): Promise<void> {
  try {
    await file.finish();
  } catch (error) {
    throw await keptAfter(error, file, path);
  }
}

/** A series of the images that `fill` adds. */
export async function writtenSeries<Result>(
  paths: SeriesPaths,
  factsAt: (middle: Pick<SeriesImage, 'frame'>) => SeriesFacts,
  fill: (add: (image: SeriesImage) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const file = await openSeries(paths, factsAt);
  try {
    const result = await fill((image) => file.add(image));
    await file.finish();
    return result;
  } catch (error) {
    throw await keptAfter(error, file, paths.fits);
  }
}

/** Writes images one after the other as a cube in time, an animation, and a contact sheet where requested. */
export const writeSeries = (
  paths: SeriesPaths,
  { images, ...series }: Series,
  options: SeriesOptions,
): Promise<void> =>
  writtenSeries(
    paths,
    () => ({ series, options }),
    async (add) => {
      for (const image of images) await add(image);
    },
  );

const headerFacts = ({
  series: { plan, beam, centreName, frequencyHz, everyS },
  options,
}: SeriesFacts): FitsSeriesFacts => ({
  pixels: plan.pixels,
  pixelSize: plan.pixelSize,
  object: centreName,
  beam,
  telescope: options.telescope.name,
  unit: options.unit,
  frequencyHz,
  everyS,
  history: brightnessFacts(options).history,
});

async function drawSeries(
  paths: SeriesPaths,
  images: readonly SeriesImage[],
  { series, options }: SeriesFacts,
): Promise<{ readonly path: string; readonly bytes: Uint8Array }[]> {
  const { plan, beam, frequencyHz, bandHz } = series;
  const stretch = imageStretch(jointly(images));
  const blank = new Set(series.lost);
  const pictures = images
    .filter((_, k) => !blank.has(k))
    .map(({ plane, start, durationS, exposureS, frame }) =>
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
  const drawn: { path: string; bytes: Uint8Array }[] = [];
  if (paths.png !== undefined) {
    const width = options.width ?? ANIMATION_WIDTH;
    drawn.push({ path: paths.png, bytes: await renderAnimation(pictures, { width }) });
  }
  if (paths.sheet !== undefined) {
    const shown = onContactSheet(pictures);
    const columns = Math.ceil(Math.sqrt(shown.length));
    const width = Math.floor(SHEET_WIDTH / columns);
    drawn.push({ path: paths.sheet, bytes: await renderContactSheet(shown, { columns, width }) });
  }
  return drawn;
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
