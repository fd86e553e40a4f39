/** Outputs of wide images: FITS and PNG. */
import { present } from '../../core/present.js';
import type { OnStep } from '../../core/progress.js';
import { planeML, type ImageCPML, type PlaneML } from '../../core/axes.js';
import { renderPng, skyPicture } from '../../draw/index.js';
import type { FitsImage } from '../../formats/index.js';
import {
  apparent,
  brightnessFacts,
  fewStationsBeam,
  handName,
  labelsOf,
  pictureWidth,
  planesOf,
  sidelobesText,
  writeJointly,
  type ImageFile,
  type PictureOptions,
} from '../../stages/index.js';
import type { WideSkyImage } from './image.js';

/** `model`, `residual` and `dirty` only with CLEAN. */
export interface WidePaths {
  readonly fits: string;
  readonly png?: string;
  readonly beam?: string;
  readonly dirty?: string;
  readonly model?: string;
  readonly residual?: string;
}

export type WideProductOptions = Omit<PictureOptions, 'channels' | 'channelWidthHz'>;

/** Writes all of them or none. */
export async function writeWide(
  paths: WidePaths,
  sky: WideSkyImage,
  options: WideProductOptions,
  onStep?: OnStep,
): Promise<void> {
  onStep?.(0.05, 'the picture');
  const files: ImageFile[] = [{ path: paths.fits, of: fitsOf(sky, sky.image, options) }];
  if (paths.png !== undefined) files.push({ path: paths.png, of: await widePng(sky, options) });
  const add = (path: string | undefined, image: ImageCPML | undefined, unit: string): void => {
    // Next to a corrected image, the other outputs keep apparent flux.
    const brightness = apparent(options.telescope);
    if (path !== undefined && image)
      files.push({ path, of: fitsOf(sky, image, { ...options, brightness, unit }) });
  };
  if (paths.beam !== undefined) files.push({ path: paths.beam, of: beamFits(sky, options) });
  add(paths.dirty, sky.cleaned?.dirty, options.unit);
  add(paths.model, sky.cleaned?.model, options.unit.replace('/beam', '/pixel'));
  add(paths.residual, sky.cleaned?.residual, options.unit);
  await writeJointly(files, onStep);
}

/** The channel that represents a cube: the middle one, or the nearest with data. */
export function standingChannel({ fittedBeams, channelWeights }: WideSkyImage): number {
  const middle = Math.floor(fittedBeams.length / 2);
  const byDistance = [...fittedBeams.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return byDistance.find((c) => channelWeights[c] > 0) ?? middle;
}

const beamOf = (sky: WideSkyImage): WideSkyImage['fittedBeams'][number] =>
  sky.fittedBeams[standingChannel(sky)];

/** Of the channel that represents the image, for arrays of few stations. */
export function dirtyBeamOf(
  sky: WideSkyImage,
  telescope: WideProductOptions['telescope'],
): ReturnType<typeof fewStationsBeam> {
  const { pixels } = sky.pixels;
  const first = standingChannel(sky) * pixels * pixels;
  return fewStationsBeam(
    telescope,
    pixels,
    planeML(sky.beam.subarray(first, first + pixels * pixels), pixels),
  );
}

function fitsOf(sky: WideSkyImage, image: ImageCPML, options: WideProductOptions): FitsImage {
  const { pixels, frequenciesHz, products } = sky;
  const beam = beamOf(sky);
  const dirtyBeam = dirtyBeamOf(sky, options.telescope);
  return {
    image,
    pixels: pixels.pixels,
    pixelSize: pixels.pixelCosine,
    polarisations: products.length === 4 ? 2 : 1,
    ...(products[0] === 'I' && { stokes: 'I' as const }),
    ...(products[0] === 'YY' && { hand: 1 as const }),
    feeds: options.feeds,
    frequenciesHz,
    channelWidthHz: sky.bandHz / frequenciesHz.length,
    beam,
    ...(frequenciesHz.length > 1 && { beams: sky.fittedBeams }),
    centre: sky.centre,
    start: sky.start,
    durationS: sky.durationS,
    exposureS: sky.exposureS,
    telescope: options.telescope.name,
    object: sky.centreName,
    unit: options.unit,
    crossHands: options.crossHands,
    ...(products.length === 4 && planesOf(sky.stokes)),
    ...brightnessFacts({
      ...options,
      history: present(
        ...options.history,
        dirtyBeam && `the dirty beam has ${sidelobesText(dirtyBeam)}`,
        ...(products.length === 4 ? (sky.stokes?.history ?? []) : []),
        frequenciesHz.length > 1 &&
          beam &&
          `BMAJ, BMIN and BPA are of channel ${standingChannel(sky)}, counted from 0; table BEAMS has all`,
      ),
    }),
  };
}

/** One plane per channel, whatever the image's products. */
const beamFits = (sky: WideSkyImage, options: WideProductOptions): FitsImage =>
  fitsOf({ ...sky, products: sky.products.length === 4 ? ['I'] : sky.products }, sky.beam, {
    ...options,
    unit: 'beam',
  });

/** Stokes I, or the only product; separate channels are averaged by their weights. */
export function picturePlane({ image, products, channelWeights, pixels: { pixels } }: WideSkyImage): PlaneML {
  const size = pixels * pixels;
  const channels = image.length / products.length / size;
  const plane = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    let sum = 0;
    let count = 0;
    for (let c = 0; c < channels; c++) {
      const first = c * products.length * size + at;
      // As in the FITS: no I if a hand is lost.
      const value = products.length === 4 ? (image[first] + image[first + size]) / 2 : image[first];
      if (Number.isNaN(value)) continue;
      sum += channelWeights[c] * value;
      count += channelWeights[c];
    }
    plane[at] = count > 0 ? sum / count : Number.NaN;
  }
  return planeML(plane, pixels);
}

function widePng(sky: WideSkyImage, options: WideProductOptions): Promise<Uint8Array> {
  const frequencyHz = (sky.frequenciesHz[0] + (sky.frequenciesHz.at(-1) ?? 0)) / 2;
  const picture = skyPicture({
    ...labelsOf({ ...sky, frequencyHz, centre: sky.centreName }, options),
    plane: picturePlane(sky),
    plan: {
      pixels: sky.pixels.pixels,
      pixelSize: sky.pixels.pixelCosine,
      field: sky.pixels.field,
      axes: sky.axes,
    },
    stokes:
      sky.products.length === 1 && sky.products[0] !== 'I'
        ? handName(options.feeds ?? 'linear', sky.products[0] === 'YY' ? 1 : 0)
        : 'I',
    beam: beamOf(sky),
    dirtyBeam: dirtyBeamOf(sky, options.telescope),
  });
  return renderPng(picture, { width: options.width ?? pictureWidth(picture) });
}
