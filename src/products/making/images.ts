/** Images of the sky, one or a series, from integrations or directly from spectra. */
import type { Backend } from '../../backend/backend.js';
import { planeML } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, type Instant } from '../../core/instant.js';
import type { SampleRange } from '../../core/sources.js';
import type { CrossHandLack } from '../../formats/index.js';
import {
  averageChannels,
  stationBeam,
  stokesI,
  type DirectImageError,
  type ImageGeometry,
} from '../../image/index.js';
import {
  correctedSky,
  coherenceOf,
  type Coherence,
  snapshotOnSky,
  responseOf,
  stokesFrameOf,
  betweenPixels,
  seenIn,
  imagedTelescope,
  writeSky,
  type PictureOptions,
  axesAt,
  calibratedAt,
  centreOf,
  leavingOutEmpty,
  ownImage,
  pixelsOf,
  planSky,
  planSkyGeometry,
  withCentre,
  type ImageSettings,
  type SkyImage,
  type StokesPlanes,
  tiltFacts,
  tiltLines,
  type TiltFacts,
  integrationClock,
  refuseLeapSeconds,
  type IntegrationClock,
  planMoments,
  flagsOfAll,
  channelsNamed,
  type FlagRule,
  prepareImage,
  type ImageInput,
  chain,
  passing,
  type Stage,
  type TimedSpectra,
  finishSeries,
  openSeries,
  type SeriesFacts,
  type SeriesFile,
  type SeriesImage,
  type CardIntegration,
  leavingOutLate,
  W_TERM_ACCURACY,
} from '../../stages/index.js';
import {
  prepareDirectProduct,
  endOfFront,
  type ComposedProduct,
  type Front,
  checkDirectImages,
  methodLine,
  methodUsed,
  type MethodUsed,
  imageMiddles,
  timeRangesOf,
} from '../../compose/index.js';
import type { Integration } from '../../core/blocks.js';
import { message, type Message } from '../../messages/index.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { skyFrame, type SkyFrame } from '../../sky/frame.js';
import { parseSources } from '../../sky/chosen-sources.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnplaced } from '../../telescope/unplaced.js';
import {
  handingOver,
  type Making,
  type MadeProduct,
  type Observed,
  type PlannedProduct,
  type ProductParts,
} from '../product.js';
import { plainWeights } from '../images.js';
import { dividingBeam, lookOf, seriesPaths } from '../looks.js';
import { ImageCubes } from '../recorders/cubes.js';
import { openLatestPicture, type ImageRecorder } from '../recorders/pictures.js';
import type { Product } from '../registry.js';

export interface ImageFacts {
  readonly method: 'direct' | 'visibilities';
  readonly pixels: number;
  /** The imaging method and its error bound for this recording. */
  readonly imaging: MethodUsed;
  /** Largest error of direct images for this array, relative to a source's peak. */
  readonly predictedError?: DirectImageError;
  /** If images are centred on the normal of the stations' own plane. */
  readonly tilt?: TiltFacts;
  readonly tiltLines: readonly Message[];
  /** Number of images made so far. */
  readonly images: number;
  /** For a series: images without data, as all were missing or flagged. */
  readonly leftOut: number;
  /** For a series: from one image to the next. */
  readonly everyS?: number;
  readonly unit: 'Jy/beam' | 'counts';
  /** Decorrelation of the array without tracking. */
  readonly coherence: Coherence;
  readonly crossHands?: CrossHandLack;
  /** For a single image, once it is made. */
  readonly seen?: SeenImage;
}

interface SeenImage {
  /** The brightest pixel of Stokes I. */
  readonly peak: number;
  /** The hand that it is made of, if the other has no data. */
  readonly hand?: 0 | 1;
  /** Largest loss of a source between four pixels, as a fraction of its flux. */
  readonly betweenPixels: number;
  /** Stokes parameters of the sky, or why they are left out. */
  readonly stokes?: StokesPlanes;
  readonly plan: ImageGeometry;
  readonly durationS: number;
}

// eslint-disable-next-line @typescript-eslint/require-await -- an async function turns refusals into rejections
export async function planImages(
  fields: Product<'images'>,
  given: Observed,
): Promise<PlannedProduct<ImageFacts>> {
  const { recording, spectra, flaggedInputs } = given;
  const { telescope, frame: data } = stokesFrameOf(given.telescope, { feedFrame: 'feeds' }, fields.feeds);
  const observed = { ...given, telescope };
  const path = fields.images ?? undefined;
  const { live } = observed;
  if (!live && path !== undefined && !/\.fits?$/i.test(path))
    refuse('products.images', `'${path}' does not end in .fits`, 'a PNG is written beside it');
  refuseUnplaced(recording.path, telescope, 'there is no image of the sky in them');
  const method = fields.method ?? 'visibilities';
  const { every, sheet = false, picture = true } = fields;
  const correction = correctionOf(fields, telescope);
  const settings: ImageSettings = {
    ...(live?.imaging?.image ?? imageSettingsOf(fields, observed)),
    // A single image gets its Stokes parameters when it is finished.
    response: every === undefined ? 'kept' : responseOf(data),
    // If the beams of different stations are divided out, each is gridded with its own kernel.
    apertures: correction?.perStation,
  };
  const frame = skyFrame(telescope.site, recording.start);
  const { frequenciesHz, grid } = spectra;
  const imaged = imagedTelescope(telescope, flaggedInputs);
  const predictedError =
    method === 'direct' && !live?.imaging
      ? checkDirectImages({ telescope: imaged, frequenciesHz }, frame, settings)
      : undefined;
  const imaging =
    live?.imaging?.chosen ??
    (predictedError
      ? methodUsed('direct', predictedError)
      : methodUsed('w-term', { anywhere: W_TERM_ACCURACY, high: W_TERM_ACCURACY }));
  const planned = method === 'direct' && !live ? planSky : planSkyGeometry;
  const imagePlan = planned(imaged, frame, frequenciesHz, settings);
  const { pixels } = imagePlan;
  const clock = live?.clock ?? integrationClock({ integrationS: every, align: fields.align }, grid);
  const paths = path === undefined || live ? undefined : seriesPaths(path, { picture, sheet });
  if (path !== undefined && !live)
    refuseLeapSeconds(path, clock, grid, endOfFront(observed.front), 'start and middle');
  const direct = directParts(fields, observed, settings, clock);
  const unit = unitOf(observed);
  const coherence = coherenceOf(telescope, frequenciesHz, spectra.channelWidthHz);
  const { crossHands, gainsElement } = observed;
  let [count, leftOut] = [0, 0];
  let seen: SeenImage | undefined;
  return {
    name: 'images',
    clock,
    isCalibrated: true,
    parts: method === 'direct' ? direct : { cut: 'whole' },
    paths: Object.values(paths ?? {}) as string[],
    warnings:
      correction && gainsElement !== undefined && gainsElement !== correction.name
        ? [message('gains.other-beam', { element: gainsElement, dividedBy: correction.name })]
        : [],
    facts: () => ({
      method,
      pixels,
      imaging,
      predictedError,
      images: count,
      leftOut,
      everyS: every,
      unit,
      coherence,
      crossHands,
      seen,
      tilt: tiltFacts(imagePlan),
      tiltLines: tiltLines(imagePlan),
    }),
    make: (asked) => {
      const making = { ...asked, history: [...asked.history, methodLine(imaging)] };
      if (live) {
        const none = (): void => {
          leftOut++;
        };
        const counted = (): void => {
          count++;
        };
        return Promise.resolve(
          liveImages(fields, observed, making, { settings, method, clock, counted, none, path }),
        );
      }
      const emit = paths ? undefined : handingOver(making, 'images');
      const lastsS = every ?? endOfFront(observed.front) / grid.spectrumRateHz;
      let series: SeriesFile | undefined;
      let only: SkyImage | undefined;
      /** The plan of the last image, and its instant. */
      let last: (() => Pick<SkyImage, 'plan' | 'frame' | 'start'>) | undefined;
      const left = (): void => {
        leftOut++;
      };
      const factsAt = ({ frame: middle }: Pick<SeriesImage, 'frame'>): SeriesFacts => {
        const { plan, frame: lastFrame } = last?.() ?? { plan: imagePlan, frame };
        return {
          series: {
            plan,
            everyS: lastsS,
            centreName: centreOf({ plan, frame: lastFrame }).name,
            beam: stationBeam(plan),
            frequencyHz: (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2,
            bandHz: spectra.channelWidthHz * frequenciesHz.length,
          },
          options: imageOptions(fields, observed, making, middle),
        };
      };
      const record = async (image: SeriesImage): Promise<void> => {
        if (!paths) return;
        series ??= await openSeries(paths, factsAt, { stays: true });
        await series.add(image);
      };
      const take = async (sky: SkyImage): Promise<void> => {
        count++;
        if (every === undefined) only = ownImage(sky);
        last = () => sky;
        if (every !== undefined && emit)
          await emit({
            kind: 'images',
            image: sky,
            about: imageOptions(fields, observed, making, sky.frame),
          });
        else if (every !== undefined)
          await record({
            plane: planeML(planeOf(sky), sky.plan.pixels),
            start: sky.start,
            durationS: sky.durationS,
            frame: sky.frame,
            centre: centreOf(sky).position,
          });
      };
      const finish = async (): Promise<void> => {
        const { plan, frame: lastFrame } =
          last?.() ?? refuse(path ?? 'products.images', 'no image was made', 'record for longer');
        if (every === undefined) {
          if (!only) throw new Error('one image of everything is not made in pieces');
          const one = correction ? corrected(only, correction, fields, observed) : only;
          const sky = snapshotOnSky(one, data, {
            telescope,
            crossHands,
            beam: correction,
            autos: (fields.autos ?? method === 'direct') ? 'include' : 'leave-out',
          });
          const { peak, hand } = seenIn(sky);
          const about = imageOptions(fields, observed, making, lastFrame, correction);
          if (paths) await writeSky(paths, sky, about);
          else await emit?.({ kind: 'images', image: sky, about });
          const { stokes, durationS } = sky;
          seen = { peak, hand, stokes, plan, durationS, betweenPixels: betweenPixels(sky) };
          return;
        }
        if (series && path !== undefined) await finishSeries(series, path);
      };
      const product: MadeProduct = {
        composed: composed(method, { settings, lastsS, take, left }, fields, observed, making, clock),
        take: async ({ image, values }) => {
          if (values.byteLength === 0) {
            leftOut++;
            return;
          }
          if (!image) throw new Error('a piece of a series without its times');
          const floats = new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
          const plane = new Float64Array(floats.buffer);
          const side = Math.sqrt(plane.length);
          const moments = direct.moments();
          const imagedBy = imagedTelescope(telescope, flaggedInputs);
          const imaged = skyFrame(telescope.site, image.moment);
          const { start, durationS } = image;
          const of = skyFrame(telescope.site, moments[count + leftOut]);
          // To the last bit, the centre is that of its plan's axes at the plan's instant.
          const { normalEnu } = withCentre(imagedBy, frequenciesHz, settings);
          const axes = axesAt(of, normalEnu);
          const plan = { ...imagePlan, axes };
          const centre = centreOf({ plan, frame: imaged }).position;
          count++;
          last = () => ({ plan: planSky(imagedBy, of, frequenciesHz, settings), frame: imaged, start });
          await record({ plane: planeML(plane, side), start, durationS, frame: imaged, centre });
        },
        finish,
        keep: async () => {
          if (count === 0) return `${path ?? 'images'}: no image was finished, and nothing was written`;
          const kept = await finish().then(
            () => count,
            (error: unknown) => series?.keep() ?? Promise.reject(error as Error),
          );
          return `${path ?? 'images'} is whole and holds the ${kept === 1 ? 'one image that was' : `${kept} images that were`} finished`;
        },
        abandon: () => series?.abandon() ?? Promise.resolve(),
      };
      return Promise.resolve(product);
    },
  };
}

/** Images as they come: shown, handed over, and written by a recorder that goes on over stream epochs. */
function liveImages(
  fields: Product<'images'>,
  observed: Observed,
  making: Making,
  of: {
    readonly settings: ImageSettings;
    readonly method: ImageFacts['method'];
    readonly clock: IntegrationClock;
    readonly counted: () => void;
    readonly none: () => void;
    readonly path: string | undefined;
  },
): MadeProduct {
  const { listener, emit, recording } = making;
  const { path, counted, none, ...how } = of;
  const about = (sky: SkyImage): PictureOptions => imageOptions(fields, observed, making, sky.frame);
  const recorder =
    path === undefined
      ? undefined
      : recording?.opened(() => openImages(fields, path, observed, recording, about));
  const take = async (sky: SkyImage): Promise<void> => {
    counted();
    listener?.image?.(sky);
    const unit = unitOf(observed, sky.start);
    await recorder?.show(sky, unit);
    if (path === undefined) await emit?.({ kind: 'images', image: sky, about: { ...about(sky), unit } });
  };
  const left = (why: string): void => {
    none();
    listener?.noImage?.(why);
  };
  const stays = (): Promise<void> => Promise.resolve();
  return {
    composed: composed(
      how.method,
      { settings: how.settings, lastsS: fields.every ?? 1, take, left },
      ...([fields, observed, making, how.clock] as const),
    ),
    finish: stays,
    keep: () => Promise.resolve(''),
    abandon: stays,
  };
}

const PICTURE_WIDTH = 800;

/** Cubes, or the latest picture. */
function openImages(
  fields: Product<'images'>,
  path: string,
  { telescope, spectra, gainsAre }: Observed,
  { overwrite, sky, onFault }: NonNullable<Making['recording']>,
  about: (sky: SkyImage) => PictureOptions,
): ImageRecorder {
  if (/\.fits?$/i.test(path)) return new ImageCubes({ fields, path, spectra, overwrite, about }, onFault);
  const { sources = 'all', method, weights = 'natural' } = fields;
  return openLatestPicture(
    {
      path,
      width: PICTURE_WIDTH,
      telescope,
      gainsAre,
      channelWidthHz: spectra.channelWidthHz,
      look: lookOf(fields),
      method:
        method === 'direct' ? 'Live, direct imaging (EPIC)' : `Live, from visibilities, ${weights} weight`,
      sources: sources === 'all' ? 'all' : sources.split(',').map((one) => one.trim()),
      sky,
    },
    (why) => {
      onFault(`the picture cannot be drawn: ${why}`);
    },
    onFault,
  );
}

/** Stokes I, or the only product : [m][l] float64. */
const planeOf = (sky: Pick<SkyImage, 'image' | 'plan' | 'weights'>): Float64Array =>
  stokesI(averageChannels(sky.image, sky.plan, sky.weights), sky.plan, 0);

/** Direct images of a series in pieces: those of a range, with the plans they would have in the whole series. */
function directParts(
  fields: Product<'images'>,
  observed: Observed,
  settings: ImageSettings,
  clock: IntegrationClock,
): Extract<ProductParts, { readonly cut: 'time' }> & { readonly moments: () => readonly Instant[] } {
  const { telescope, flaggedInputs, spectra, front } = observed;
  const { frequenciesHz } = spectra;
  let known: readonly Instant[] | undefined;
  const moments = (): readonly Instant[] => {
    if (known) return known;
    const imaged = imagedTelescope(telescope, flaggedInputs);
    const all = timeRangesOf(clock, 0, endOfFront(front));
    const frames = imageMiddles(all, clock, front).map((at) => skyFrame(telescope.site, at));
    const { normalEnu } = withCentre(imaged, frequenciesHz, settings);
    const size = (at: SkyFrame): number => pixelsOf(imaged, at, frequenciesHz, settings);
    known = planMoments(frames, size, normalEnu, fields.align === 'utc' ? 'utc' : undefined);
    return known;
  };
  return {
    cut: 'time',
    kind: 'images',
    moments,
    make: (ranged, { backend, plannedFor }, emit) => {
      const lastsS = fields.every ?? refuse('products.images.every', 'is not given', 'give it');
      const images = directImages(fields, observed, { ranged, backend, settings, lastsS, plannedFor });
      const first = ranged.range?.firstSpectrum ?? 0;
      const end = endOfFront(ranged);
      const pieces = timeRangesOf(clock, first, end);
      let made = 0;
      const next = (): SampleRange =>
        pieces.at(made++) ?? refuse('images', `more than the ${pieces.length} of the plan`, 'report this');
      const hand = passing<SkyImage>((sky) => {
        const piece = next();
        const { start, durationS, frame } = sky;
        return emit({
          ...piece,
          image: { start, durationS, moment: frame.moment },
          values: planeOf(sky),
        });
      });
      return leavingOutEmpty(chain(images, hand), () => emit({ ...next(), values: new Uint8Array() }));
    },
  };
}

/** As requested, before a method is chosen. */
export const imageSettingsOf = (
  fields: Product<'images'>,
  { discs, delays }: Pick<Observed, 'discs' | 'delays'>,
): ImageSettings => ({
  pixels: fields.pixels,
  field: fields.field === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg: fields.field },
  kernelSize: fields.kernel ?? 5,
  blanked: { discs, fixedTo: delays?.towards ? 'sky' : 'ground' },
});

/** Of an image that begins at an instant: gains may come and go while data arrive. */
function unitOf(
  { calibrated, gainsAre, live }: Pick<Observed, 'calibrated' | 'gainsAre' | 'live'>,
  start?: Instant,
): 'Jy/beam' | 'counts' {
  const gains = live?.steering && start ? live.steering.gains.at(start) : calibrated;
  return gains && gainsAre === undefined ? 'Jy/beam' : 'counts';
}

/** Of all spectra, or of a range of them. Machines with parts of one band cut at UTC instants and use the same plans. */
const directImages = (
  fields: Product<'images'>,
  { telescope, calibrated, flaggedInputs, rules, spectra, live }: Observed,
  of: {
    readonly ranged: Front;
    readonly backend: Backend;
    readonly settings: ImageSettings;
    readonly lastsS: number;
    readonly plannedFor?: Instant;
  },
): Stage<TimedSpectra, SkyImage> =>
  prepareDirectProduct(of.ranged, {
    backend: of.backend,
    telescope,
    calibrated,
    store: live?.imagers,
    flaggedInputs,
    rules: imagedRules(fields, rules, spectra.frequenciesHz),
    image: of.settings,
    plannedFor: fields.align === 'utc' ? 'utc' : of.plannedFor,
    autos: fields.autos === false ? 'leave-out' : 'include',
    lastsS: of.lastsS,
  });

function composed(
  method: ImageFacts['method'],
  of: {
    readonly settings: ImageSettings;
    readonly lastsS: number;
    readonly take: (sky: SkyImage) => Promise<void>;
    /** Called for an image of a series without data. */
    readonly left: (why: string) => void;
  },
  fields: Product<'images'>,
  observed: Observed,
  { backend }: Making,
  clock: ComposedProduct['clock'],
): ComposedProduct {
  const { front, spectra, telescope, flaggedInputs, rules, live } = observed;
  const { settings: image, lastsS, take, left } = of;
  const forgiving = <In extends object>(stage: Stage<In, unknown>): Stage<In, unknown> =>
    fields.every === undefined ? stage : leavingOutLate(leavingOutEmpty(stage, left), live?.late);
  if (method === 'direct') {
    const direct = directImages(fields, observed, { ranged: front, backend, settings: image, lastsS });
    return { from: 'spectra', clock, stage: forgiving(chain(direct, passing<SkyImage>(take))) };
  }
  const images = prepareImage({
    backend,
    telescope: imagedTelescope(telescope, flaggedInputs),
    image,
    plannedFor: fields.align === 'utc' ? 'utc' : undefined,
    frequenciesHz: spectra.frequenciesHz,
    weight: plainWeights(fields),
    autos: fields.autos === true ? 'include' : 'leave-out',
    ...(live && { method: live.imaging?.method, store: live.imagers, beam: 'leave-out' }),
  });
  const stage = forgiving(chain(calibrating(images, observed), passing<SkyImage>(take)));
  return {
    from: 'integrations',
    clock,
    vanVleck: fields['van-vleck'] === true ? {} : undefined,
    flags: { rules: imagedRules(fields, rules, spectra.frequenciesHz) },
    stage,
    ...(live && { onCard: stage }),
  };
}

/** Flags of the observation, and the channels that are not imaged. */
export function imagedRules(
  { channels }: Product<'images'>,
  rules: readonly FlagRule[],
  frequenciesHz: Float64Array,
): readonly FlagRule[] {
  if (channels === undefined) return rules;
  const kept = channelsNamed(channels.join(','), frequenciesHz, 'products.images.channels');
  return flagsOfAll({ rules, channels: kept }, frequenciesHz.length);
}

/** Integrations with the gains at their middle, if there are any. */
const calibrating = <Out>(
  stage: Stage<ImageInput, Out>,
  { calibrated, live }: Observed,
): Stage<Integration | CardIntegration, Out> => ({
  ...stage,
  push: (integration, emit) => {
    const { start, durationS } = integration;
    const middle = addSeconds(start, durationS / 2);
    const calibration = live?.steering
      ? live.steering.calibratedAt(start, middle)
      : calibrated && calibratedAt(calibrated, middle, start);
    return stage.push(calibration ? { integration, calibration } : integration, emit);
  },
});

/** Annotations of images in their file and picture. */
export const imageOptions = (
  fields: Product<'images'>,
  {
    telescope,
    spectra,
    calibrated,
    crossHands,
    gainsAre,
  }: Pick<Observed, 'telescope' | 'calibrated' | 'crossHands' | 'gainsAre'> & {
    readonly spectra: Pick<Observed['spectra'], 'channelWidthHz'>;
  },
  { history }: Pick<Making, 'history'>,
  frame: SkyFrame,
  correction?: ElementBeam,
): PictureOptions => ({
  telescope,
  crossHands,
  ...(correction && { brightness: { kind: 'beam-corrected', beam: correction } }),
  response: responseOf(stokesFrameOf(telescope, { feedFrame: 'feeds' }, fields.feeds).frame),
  method:
    fields.method === 'direct'
      ? 'Direct imaging (EPIC)'
      : `From visibilities, ${fields.weights ?? 'natural'} weights`,
  unit: unitOf({ calibrated, gainsAre }),
  gainsAre,
  channelWidthHz: spectra.channelWidthHz,
  channels: fields.cube === true ? 'keep' : 'average',
  history,
  sources: parseSources(fields.sources ?? 'all')(frame),
  look: lookOf(fields),
});

/** The beam that the image is divided by, if requested. */
function correctionOf(fields: Product<'images'>, telescope: Telescope): ElementBeam | undefined {
  const { 'beam-corrected': isAsked = false, every } = fields;
  if (isAsked && every !== undefined)
    refuse(
      'products.images.beam-corrected',
      'is for one image, not for a series',
      'leave out products.images.every',
    );
  return dividingBeam(fields, telescope);
}

const corrected = (
  sky: SkyImage,
  beam: ElementBeam,
  fields: Product<'images'>,
  { calibrated }: Observed,
): SkyImage =>
  correctedSky(sky, beam, {
    followed: sky.frame.zenith,
    autos: fields.autos === false ? 'leave-out' : 'include',
    calibrated: calibrated && calibratedAt(calibrated, addSeconds(sky.start, sky.durationS / 2), sky.start),
  });
