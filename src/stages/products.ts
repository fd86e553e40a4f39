/** Products: FITS for programs, PNG for people. */
import { present } from '../core/present.js';
import type { OnStep } from '../core/progress.js';
import type { Telescope } from '../telescope/telescope.js';
import { addSeconds, formatInstant } from '../core/instant.js';
import type { PlaneML } from '../core/axes.js';
import { formatHz, percent } from '../core/units.js';
import {
  encodeFitsImage,
  type CrossHandLack,
  type FitsImage,
  openOutputSet,
  writeFileWhole,
  writeFitsImage,
} from '../formats/index.js';
import { renderPng, skyPicture, type SkyLook, type SkyPicture } from '../draw/index.js';
import {
  averageChannels,
  fitBeam,
  loneHand,
  planeOf,
  productAlone,
  sidelobesOf,
  stationBeam,
  stokesI,
  usedBand,
  type FittedBeam,
  type Sidelobes,
  type UsedBand,
} from '../image/index.js';
import { CorellaError } from '../core/errors.js';
import { textOf } from '../messages/index.js';
import { sourcesUp } from '../sky/above.js';
import type { Source } from '../sky/source.js';
import { apparent, brightnessHistory, type Brightness } from './brightness.js';
import { centreOf, type Response, type SkyImage, type StokesPlanes } from './sky-image.js';
import { tiltLines } from './tilt.js';

export interface ProductOptions {
  readonly telescope: Telescope;
  /** The polarisations of the data: X and Y by default. */
  readonly feeds?: 'linear' | 'circular';
  /** "From visibilities", "Direct": the method, for the headline. */
  readonly method: string;
  readonly unit: string;
  readonly channelWidthHz: number;
  readonly channels: 'average' | 'keep';
  /** Whether the element beam is still in the brightness; by default apparent, by the telescope's own beam. */
  readonly brightness?: Brightness;
  /** Whether the response of bare dipoles is divided out: it is by default. */
  readonly response?: Response;
  /** What the gains lack between X and Y: the Stokes parameters that need it are left out. */
  readonly crossHands?: CrossHandLack;
  readonly history: readonly string[];
}

/** The band of the channels in an average. */
const bandOf = ({ image, weights, plan }: SkyImage, channelWidthHz: number): UsedBand =>
  usedBand(
    plan.frequenciesHz,
    channelWidthHz,
    Array.from({ length: plan.channels }, (_, c) =>
      [0, ...(plan.polarisations === 2 ? [1] : [])].reduce(
        (sum, p) =>
          planeOf(image, plan, c, p).every(Number.isNaN)
            ? sum
            : sum + (weights?.[c * plan.products + p] ?? 1),
        0,
      ),
    ),
  );

/** Writes an image as FITS. */
export const writeSkyFits = (path: string, sky: SkyImage, options: ProductOptions): Promise<void> =>
  writeFitsImage(path, fitsOf(sky, options));

/** The synthesised beam of the image, where there is one and the pixels resolve it; else that of all stations. */
const beamOf = (sky: Beamed): FittedBeam | undefined =>
  (sky.beam && fitted(sky, averageChannels(sky.beam, sky.plan, sky.weights), 0)) ?? stationBeam(sky.plan);

/** The same for each channel; a beam of all stations scales with wavelength. */
function beamsOf(sky: Beamed): (FittedBeam | undefined)[] {
  const { beam, plan } = sky;
  const { frequenciesHz } = plan;
  const ofAll = stationBeam(plan);
  const middleHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  return Array.from(frequenciesHz, (frequencyHz, c) => {
    const own = beam && fitted(sky, beam, c);
    if (own || !ofAll) return own;
    const { majorDeg, minorDeg, positionAngleDeg } = ofAll;
    const by = middleHz / frequencyHz;
    return { majorDeg: majorDeg * by, minorDeg: minorDeg * by, positionAngleDeg };
  });
}

/** Fitted to Stokes I in one channel; undefined where the pixels are too coarse. */
function fitted({ plan }: Beamed, beam: SkyImage['image'], channel: number): FittedBeam | undefined {
  try {
    const { pixels, pixelSize: pixelCosine } = plan;
    return fitBeam({ pixels, pixelCosine }, stokesI(beam, plan, channel));
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    return undefined;
  }
}

/** Images from visibilities have a beam, direct ones have none. */
type Beamed = SkyImage & { readonly beam?: SkyImage['image'] };

/** What the brightness of an image is; PBCOR for that in Jy only: counts have no true scale. */
export function brightnessFacts({
  telescope,
  unit,
  brightness = apparent(telescope),
  response = 'divided',
  history,
}: Pick<ProductOptions, 'telescope' | 'unit' | 'brightness' | 'response' | 'history'>): Pick<
  FitsImage,
  'brightness' | 'history'
> {
  if (unit === 'beam') return { history };
  return {
    ...(unit.startsWith('Jy') && { brightness: brightness.kind }),
    history: [...history, ...brightnessHistory(brightness, telescope, response)],
  };
}

/** Arrays with fewer stations have sidelobes that are easily taken for sources. */
const FEW_STATIONS = 32;

type DirtyBeam = Sidelobes & { readonly plane: PlaneML };

/** The dirty beam of an array of few stations, with the level of its sidelobes; plane : [m][l]. */
export function fewStationsBeam(
  { stations }: Pick<Telescope, 'stations'>,
  pixels: number,
  plane: PlaneML,
): DirtyBeam | undefined {
  const sidelobes = stations.length < FEW_STATIONS ? sidelobesOf(pixels, plane) : undefined;
  return sidelobes && { plane, ...sidelobes };
}

/** "sidelobes up to 34 % of the peak, down to −21 %" */
export const sidelobesText = ({ highest, lowest }: Sidelobes): string =>
  `sidelobes up to ${percent(highest)} of the peak${lowest < 0 ? `, down to −${percent(-lowest)}` : ''}`;

/** Of images from visibilities by few stations. */
const dirtyBeamOf = ({ beam, plan, weights }: Beamed, telescope: Telescope): DirtyBeam | undefined =>
  beam && fewStationsBeam(telescope, plan.pixels, stokesI(averageChannels(beam, plan, weights), plan, 0));

/** Of a PNG: 1200 for a picture of the sky alone. */
export const pictureWidth = ({ width }: { readonly width: number }): number => Math.round((4 / 3) * width);

function fitsOf(sky: Beamed, options: ProductOptions): FitsImage {
  const { plan } = sky;
  const centre = centreOf(sky);
  const beam = beamOf(sky);
  const keep = options.channels === 'keep';
  const image = keep ? sky.image : averageChannels(sky.image, plan, sky.weights);
  const hand = loneHand(image, plan);
  const band = bandOf(sky, options.channelWidthHz);
  const dirtyBeam = dirtyBeamOf(sky, options.telescope);
  return {
    // A single polarisation has no Stokes parameters.
    ...(hand === undefined
      ? { image, polarisations: plan.polarisations }
      : { image: productAlone(image, plan, hand), polarisations: 1, hand }),
    pixels: plan.pixels,
    pixelSize: plan.pixelSize,
    feeds: options.feeds,
    frequenciesHz: keep ? plan.frequenciesHz : Float64Array.of(band.frequencyHz),
    channelWidthHz: keep ? options.channelWidthHz : band.widthHz,
    beam,
    ...(keep && plan.channels > 1 && { beams: beamsOf(sky) }),
    centre: centre.position,
    start: sky.start,
    durationS: sky.durationS,
    telescope: options.telescope.name,
    object: centre.name,
    unit: options.unit,
    crossHands: options.crossHands,
    ...(hand === undefined && planesOf(sky.stokes)),
    ...brightnessFacts({
      ...options,
      history: present(
        ...options.history,
        ...tiltLines(plan).map(textOf),
        dirtyBeam && `the dirty beam has ${sidelobesText(dirtyBeam)}`,
        ...(hand === undefined && plan.polarisations === 2 ? (sky.stokes?.history ?? []) : []),
        keep && plan.channels > 1 && 'BMAJ, BMIN and BPA are of all channels together; table BEAMS has each',
      ),
    }),
  };
}

/** Q and U: left out, or without a value where dipoles are too low. */
export const planesOf = (stokes: StokesPlanes | undefined): Pick<FitsImage, 'linear' | 'noLinear'> => ({
  linear: stokes?.linear,
  noLinear: stokes?.noLinear,
});

export interface PictureOptions extends ProductOptions {
  /** Gains were applied that do not bring data to Jy: images are in counts. */
  readonly gainsAre?: 'relative';
  /** Labelled at their positions. */
  readonly sources: readonly Source[];
  readonly width?: number;
  readonly look?: SkyLook;
}

/** Draws an image as PNG. */
export const writeSkyPng = async (path: string, sky: SkyImage, options: PictureOptions): Promise<void> =>
  writeFileWhole(path, await pngOf(sky, options));

export interface ImageFile {
  readonly path: string;
  readonly of: FitsImage | Uint8Array;
}

interface SkyPaths {
  readonly fits: string;
  /** Drawing takes longer than imaging: only where requested. */
  readonly png?: string;
  /** Of the synthesised beam, as FITS. */
  readonly beam?: string;
}

/** An image as FITS and PNG, and its beam where requested: all of them appear, or none. */
export async function writeSky(
  paths: SkyPaths,
  sky: Beamed,
  options: PictureOptions,
  onStep?: OnStep,
): Promise<void> {
  onStep?.(0.05, 'the picture');
  const files: ImageFile[] = [{ path: paths.fits, of: fitsOf(sky, options) }];
  if (paths.png !== undefined) files.push({ path: paths.png, of: await pngOf(sky, options) });
  if (sky.beam && paths.beam !== undefined) {
    const of = fitsOf({ ...sky, image: sky.beam }, { ...options, unit: 'beam' });
    files.push({ path: paths.beam, of });
  }
  await writeJointly(files, onStep);
}

/** FITS images, and pictures already encoded: all of them appear, or none. */
export async function writeJointly(files: readonly ImageFile[], onStep?: OnStep): Promise<void> {
  const set = await openOutputSet(files.map(({ path }) => path));
  try {
    for (const [k, { path, of }] of files.entries()) {
      onStep?.(0.8 + (0.2 * k) / files.length, path);
      if (of instanceof Uint8Array) await set.files[k].write(of);
      else await encodeFitsImage(set.files[k], of);
    }
    await set.finish();
  } catch (error) {
    await set.abandon();
    throw error;
  }
}

/** The name of a parallel hand. */
export const handName = (feeds: 'linear' | 'circular', hand: 0 | 1): 'XX' | 'YY' | 'RR' | 'LL' =>
  feeds === 'circular' ? (['RR', 'LL'] as const)[hand] : (['XX', 'YY'] as const)[hand];

/** The facts for a picture's labels. */
interface PictureFacts extends Pick<SkyImage, 'frame' | 'start' | 'durationS'> {
  readonly polarisations: 1 | 2;
  /** Of the integrations together, where there are gaps between them. */
  readonly exposureS?: number;
  /** Which of two polarisations is the only one. */
  readonly hand?: 0 | 1;
  readonly frequenciesHz: Float64Array;
  /** Where not all channels have data. */
  readonly band?: UsedBand;
}

/** Only gains turn counts into janskys. */
export function calibrationOf({
  unit,
  gainsAre,
}: Pick<PictureOptions, 'unit' | 'gainsAre'>): SkyPicture['calibration'] {
  if (unit !== 'counts') return 'calibrated';
  return gainsAre === 'relative' ? 'relative gains' : 'uncalibrated';
}

type PictureWords = Omit<PictureOptions, 'channels' | 'channelWidthHz' | 'history' | 'width'>;

/** A picture's headline and labels. */
export function labelsOf(
  {
    frame,
    start,
    durationS,
    exposureS = durationS,
    frequencyHz,
    bandHz,
    centre,
    digits = 0,
  }: Pick<SkyImage, 'frame' | 'start' | 'durationS'> & {
    readonly frequencyHz: number;
    readonly bandHz: number;
    /** Of the integrations together, where there are gaps between them. */
    readonly exposureS?: number;
    /** For the headline, where it is not the zenith. */
    readonly centre?: string;
    /** Of the time's seconds. */
    readonly digits?: number;
  },
  options: PictureWords,
): Omit<SkyPicture, 'plane' | 'plan' | 'stokes'> {
  const { telescope } = options;
  return {
    frame,
    title: [
      centre === undefined ? telescope.title : `${telescope.title}: ${centre}`,
      `${formatInstant(addSeconds(start, durationS / 2), digits)} · ${formatHz(frequencyHz)}, ${formatHz(bandHz)} wide · ` +
        `${telescope.stations.length} stations`,
      options.method,
    ],
    unit: options.unit,
    look: options.look,
    calibration: calibrationOf(options),
    integrationS: exposureS,
    sources: sourcesUp(options.sources, frame, 2, { telescope, frequencyHz }).map(
      ({ source, directionEnu }) => ({
        name: source.name,
        directionEnu,
        accuracyDeg: source.accuracyDeg,
      }),
    ),
  };
}

export function pictureParts(
  { frame, start, durationS, exposureS, polarisations, hand, frequenciesHz, band }: PictureFacts,
  options: PictureWords & Pick<PictureOptions, 'channelWidthHz'>,
): Omit<SkyPicture, 'plane' | 'plan'> {
  const { frequencyHz, widthHz: bandHz } =
    band ?? usedBand(frequenciesHz, options.channelWidthHz, new Uint8Array(frequenciesHz.length).fill(1));
  return {
    ...labelsOf({ frame, start, durationS, exposureS, frequencyHz, bandHz }, options),
    stokes: polarisations === 2 && hand === undefined ? 'I' : handName(options.feeds ?? 'linear', hand ?? 0),
  };
}

async function pngOf(sky: Beamed, options: PictureOptions): Promise<Uint8Array> {
  const { plan } = sky;
  const beam = beamOf(sky);
  const image = averageChannels(sky.image, plan, sky.weights);
  const hand = loneHand(image, plan);
  const picture = skyPicture({
    ...pictureParts({ ...plan, ...sky, band: bandOf(sky, options.channelWidthHz), hand }, options),
    plane: stokesI(image, plan, 0),
    plan,
    ...(beam && { beam }),
    dirtyBeam: dirtyBeamOf(sky, options.telescope),
  });
  return renderPng(picture, { width: options.width ?? pictureWidth(picture) });
}
