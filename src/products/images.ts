/** Images of the sky: what an observation says of them. */
import { z } from 'zod';
import {
  angleDeg,
  channelList,
  field,
  flagged,
  productPath,
  requiredField,
  timeS,
  whole,
  words,
} from '../fields/index.js';

import { mounts } from '../telescope/telescope.js';

const group = 'Images';

export const kernelSizes = [1, 3, 5, 7] as const;

export const images = z.strictObject({
  images: requiredField(productPath, {
    flag: '-o, --out <path>',
    group,
    common: true,
    changes: 'cut',
    help: 'images to write: .fits, one image or a cube in time; .png, the latest image; nothing: shown on the page only',
  }),
  every: field(timeS, {
    flag: '--every <time>',
    group,
    common: true,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'an image this often, like 40ms or 10s',
    otherwise: 'one image of everything; live 1s',
  }),
  method: field(z.enum(['visibilities', 'direct']), {
    group,
    common: true,
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
    range: { least: 1e-6, most: 180 },
    help: 'width of the field around the zenith, in degrees or with a unit',
    otherwise: 'the whole sky',
  }),
  kernel: field(z.literal(kernelSizes), {
    flag: '--kernel <size>',
    group,
    changes: 'cut',
    default: 5,
    help: 'grid cells along each side of the gridding kernel: 1, 3, 5 or 7',
  }),
  weights: field(z.enum(['natural', 'uniform']), {
    flag: '--weights <name>',
    group,
    changes: 'cut',
    default: 'natural',
    help: 'of images from visibilities: natural is deepest, uniform is sharpest',
  }),
  channels: field(channelList, {
    group,
    changes: 'never',
    help: 'image only these channels, by number from 0, 10-20,30, or by frequency, 151MHz..152MHz',
    otherwise: 'all',
  }),
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
  element: field(words('the name of a beam, or STATION=BEAM,*=BEAM'), {
    flag: '--element <beam>',
    group,
    changes: 'never',
    help: 'beam of a station, for beam-corrected: cosine:EXPONENT, airy:DIAMETER_M, mwa-dipole, none, the path of a CSV; STATION=BEAM,*=BEAM where stations differ',
    otherwise: "the one in the telescope's description",
  }),
  feeds: field(z.enum([...mounts, 'corrected']), {
    flag: '--feeds <kind>',
    group,
    changes: 'never',
    help: 'how the feeds are held, their rotation not being applied in the data: altaz, equatorial, fixed; or corrected, applied already',
    otherwise: 'what the telescope states',
  }),
  picture: field(flagged, {
    flag: '--picture',
    negatable: 'the FITS file only: drawing takes longer than imaging',
    group,
    changes: 'never',
    default: true,
    help: 'beside a .fits also a PNG: the image, or an animation of the series; live only where it is given',
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
    help: 'names to write on the picture: all, names, NAME:RA_DEG:DEC_DEG:FLUX_JY[:INDEX], NAME@ALT_DEG:AZ_DEG:FLUX_JY, or the file of a sky model',
  }),
});
