/** Images of the sky. The fields of an observation. */
import { z } from 'zod';
import {
  angleDeg,
  brightnessRange,
  field,
  flagged,
  productPath,
  real,
  requiredField,
  timeS,
  whole,
  withForm,
  words,
} from '../fields/index.js';
import { refuse } from '../core/errors.js';
import { channelsField, elementField, feedsField } from './solving.js';

const group = 'Images';
const cleaning = 'CLEAN';

/** The number after briggs: is the robustness, from natural at 2 to uniform at −2. */
type Weights = 'natural' | 'uniform' | 'briggs' | `briggs:${number}`;
const isWeights = (text: string): text is Weights => {
  const robustness = /^briggs:([+-]?(?:\d+\.?\d*|\.\d+))$/.exec(text)?.[1];
  return robustness === undefined
    ? ['natural', 'uniform', 'briggs'].includes(text)
    : Math.abs(Number(robustness)) <= 10;
};
const weights = withForm(
  z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .refine(isWeights, 'is not a weighting'),
  { words: 'natural, uniform, briggs or briggs:R, like briggs:0.5' },
);
/** For images whose visibilities are not all available at once; the support table refuses other weights. */
export const plainWeights = ({ weights: name = 'natural' }: { readonly weights?: Weights }) =>
  name === 'natural' || name === 'uniform'
    ? name
    : refuse(
        'products.images.weights',
        `'${name}' needs all visibilities at once`,
        'give natural or uniform',
      );

const stokes = withForm(
  z
    .string()
    .transform((text) => text.trim().toUpperCase())
    .pipe(z.enum(['I', 'IQUV'])),
  { words: 'I or IQUV' },
);

/** A test compares them with the drawing code, which is too large to load for a list of options. */
export const scaleNames = ['usual', 'linear', 'sqrt'] as const;
export const colourNames = ['inferno', 'viridis', 'cividis', 'grey', 'plate'] as const;

const kernelSizes = [1, 3, 5, 7] as const;

export const images = z.strictObject({
  images: requiredField(productPath, {
    flag: '-o, --out <path>',
    group,
    changes: 'cut',
    help: 'images to write: .fits, one image or a cube in time; .png, the latest image; nothing: shown on the page only',
  }),
  every: field(timeS, {
    flag: '--every <time>',
    group,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'an image this often, like 40ms or 10s; a series is a FITS cube in time and an animation (PNG)',
    otherwise: 'one image of everything, live 1s',
  }),
  method: field(z.enum(['visibilities', 'direct']), {
    group,
    changes: 'never',
    default: 'visibilities',
    help: 'visibilities, or direct: image the spectra without correlating them (EPIC)',
  }),
  align: field(z.enum(['first-sample', 'utc']), {
    group,
    changes: 'cut',
    help: 'where images are cut: counted from the first sample, or on the boundaries of UTC',
    otherwise: 'first-sample for a recording, utc live',
  }),
  'file-every': field(timeS, {
    group,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'start a new cube this often, with its start time in its name',
    otherwise: 'one file',
  }),
  pixels: field(whole, {
    flag: '--pixels <number>',
    group,
    changes: 'cut',
    range: { least: 16, most: 32_768 },
    help: 'along each side',
    otherwise: 'what the array needs; live at least 128',
  }),
  field: field(angleDeg, {
    flag: '--field <angle>',
    group,
    changes: 'cut',
    unit: 'degrees',
    range: { least: 1e-9, most: 180 },
    help: 'width of the image on the sky, like 20deg; a plain number is in degrees',
    otherwise: 'the whole sky',
  }),
  kernel: field(z.literal(kernelSizes), {
    flag: '--kernel <size>',
    group,
    changes: 'cut',
    default: 5,
    help: 'grid cells along each side of the gridding kernel: 1, 3, 5 or 7',
  }),
  weights: field(weights, {
    flag: '--weights <name>',
    group,
    changes: 'cut',
    default: 'natural',
    help: 'weights of images from visibilities: natural or uniform; natural is deepest, uniform sharpest; of files of visibilities also briggs or briggs:R between them, R from −2 to 2',
  }),
  centre: field(words('a source, "RA Dec", Sun, zenith or array'), {
    flag: '--centre <place>',
    group,
    of: 'visibilities',
    changes: 'never',
    help: 'a source, "RA Dec", Sun, zenith, or array: normal to the plane of the stations',
    otherwise: "the zenith of dipole arrays, else the file's own phase centre",
  }),
  cell: field(angleDeg, {
    flag: '--cell <angle>',
    group,
    of: 'visibilities',
    changes: 'never',
    unit: 'degrees',
    range: { above: 0 },
    help: 'from pixel to pixel, like 30arcsec, 2arcmin or degrees',
    otherwise: 'a quarter of the beam',
  }),
  accuracy: field(real, {
    flag: '--accuracy <number>',
    group,
    of: 'visibilities',
    changes: 'never',
    range: { least: 1e-7, most: 1e-2 },
    help: 'largest error of a pixel, relative to the peak',
    otherwise: '1e-4',
  }),
  taper: field(angleDeg, {
    flag: '--taper <angle>',
    group,
    of: 'visibilities',
    changes: 'never',
    unit: 'degrees',
    range: { above: 0 },
    help: 'make the beam no narrower than this, like 2arcmin',
    otherwise: 'none',
  }),
  stokes: field(stokes, {
    flag: '--stokes <which>',
    group,
    of: 'visibilities',
    changes: 'never',
    help: 'I, or IQUV',
    otherwise: 'IQUV of the whole sky in up to two minutes, else I',
  }),
  clean: field(withForm(z.union([flagged, whole]), { words: 'true, false or a number of components' }), {
    flag: '--clean [components]',
    group: cleaning,
    of: 'visibilities',
    changes: 'never',
    range: { least: 0 },
    default: false,
    help: 'CLEAN, with at most this many components, 100,000 where no number is given; the dirty image, model, residual and beam are written beside',
  }),
  threshold: field(real, {
    flag: '--threshold <Jy>',
    group: cleaning,
    of: 'visibilities',
    changes: 'never',
    unit: 'Jy',
    help: 'of CLEAN: no component below it',
    otherwise: 'none',
  }),
  'loop-gain': field(real, {
    flag: '--loop-gain <part>',
    group: cleaning,
    of: 'visibilities',
    changes: 'never',
    help: 'of CLEAN: the part of a peak that a component takes',
    otherwise: '0.1',
  }),
  'auto-threshold': field(real, {
    flag: '--auto-threshold <sigma>',
    group: cleaning,
    of: 'visibilities',
    changes: 'never',
    help: 'of CLEAN: stop at this many times the noise',
    otherwise: '3, unless there is a threshold',
  }),
  'auto-mask': field(real, {
    flag: '--auto-mask <sigma>',
    group: cleaning,
    of: 'visibilities',
    changes: 'never',
    help: 'of CLEAN: below this many times the noise, components only where there are some already',
    otherwise: '5',
  }),
  beam: field(flagged, {
    flag: '--beam',
    group,
    of: 'visibilities',
    changes: 'never',
    default: false,
    help: 'also write the synthesised beam',
  }),
  channels: channelsField(group),
  'van-vleck': field(flagged, {
    group,
    changes: 'cut',
    default: false,
    help: 'of images from visibilities: correct powers and correlations for the rounding to 8 or 4 bits',
  }),
  autos: field(flagged, {
    flag: '--autos',
    negatable: 'leave autocorrelations out',
    group,
    changes: 'cut',
    help: 'keep autocorrelations',
    otherwise: 'kept by direct images, left out of images from visibilities',
  }),
  cube: field(flagged, {
    flag: '--cube',
    group,
    changes: 'never',
    default: false,
    help: 'keep channels apart in the FITS file instead of averaging them',
  }),
  'beam-corrected': field(flagged, {
    flag: '--beam-corrected',
    group,
    changes: 'never',
    default: false,
    help: "divide by the element's beam (element), X and Y apart: true instead of apparent brightness",
  }),
  element: elementField(group, 'never'),
  feeds: feedsField(group, 'what the telescope states'),
  picture: field(flagged, {
    flag: '--picture',
    negatable: 'the FITS file only: drawing takes longer than imaging',
    group,
    changes: 'never',
    default: true,
    help: 'the picture (PNG); of images it is made beside the .fits, an animation of a series; live: the latest image, or a .fits cube',
  }),
  range: field(brightnessRange, {
    flag: '--range <low..high>',
    group,
    changes: 'cut',
    help: 'of the picture: the brightness of its first and last colour, like 0..150; either may be left out',
    otherwise: 'from the faintest to the brightest, except a few pixels',
  }),
  scale: field(z.enum(scaleNames), {
    flag: '--scale <name>',
    group,
    changes: 'cut',
    default: 'usual',
    help: 'of the picture: linear, sqrt, or usual (to the power 0.6): how colours are spread over its range',
  }),
  colours: field(z.enum(colourNames), {
    flag: '--colours <name>',
    group,
    changes: 'cut',
    help: 'of the picture: inferno, viridis, cividis, grey, or plate (bright is dark)',
    otherwise: 'inferno; with light plate',
  }),
  light: field(flagged, {
    flag: '--light',
    group,
    changes: 'cut',
    default: false,
    help: 'the picture dark on white, for print',
  }),
  sheet: field(flagged, {
    flag: '--sheet',
    group,
    changes: 'never',
    default: false,
    help: 'beside a series also a contact sheet (PNG)',
  }),
  sources: field(words('all, or names and positions of sources separated by commas'), {
    flag: '--sources <list>',
    group,
    changes: 'cut',
    default: 'all',
    help: 'sources: all, or names like CygA,Sun; also NAME:RA_DEG:DEC_DEG:FLUX_JY[:INDEX], NAME@ALT_DEG:AZ_DEG:FLUX_JY, or the file of a sky model (WSClean, BBS, hyperdrive, skyh5; CSV or FITS like GLEAM’s)',
  }),
});
