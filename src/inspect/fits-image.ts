/** Reads a FITS image, from Corella or other programs: contents, brightness, and a picture. */
import { planeML, type PlaneML } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { DEGREES_PER_RADIAN, formatHz } from '../core/units.js';
import { cross, dot, type Vector3 } from '../core/vector.js';
import {
  skyPicture,
  type BeamEllipse,
  type Picture,
  type SkyDirections,
  type SkyPlan,
} from '../draw/index.js';
import type { ReadFitsImage } from '../formats/index.js';
import { positionFromJ2000, unitVectorJ2000, type SkyPosition } from '../sky/frame.js';

/** The facts of an image that inspect prints. */
export interface ImageFacts {
  readonly pixels: number;
  readonly pixelDeg: number;
  readonly channels: number;
  /** "I", "Q", …, "XX": one for each plane. */
  readonly stokes: readonly string[];
  readonly unit: string;
  readonly centre: SkyPosition;
  readonly frequencyHz?: number;
  readonly beam?: BeamEllipse;
  readonly integrationS?: number;
  /** For the first plane, averaged over channels. */
  readonly peak: number;
  readonly peakAt: SkyPosition;
  /** About zero, over the middle two thirds: noise and sidelobes rather than sources. */
  readonly rms: number;
}

interface ImageLook {
  readonly facts: ImageFacts;
  /** The first plane, with its phase centre in pixel (n/2, n/2). */
  readonly plane: PlaneML;
  readonly plan: SkyPlan;
  readonly directions: SkyDirections;
}

/** FITS codes of Stokes parameters and of products. */
const stokesNames: Readonly<Record<number, string>> = {
  1: 'I',
  2: 'Q',
  3: 'U',
  4: 'V',
  [-1]: 'RR',
  [-2]: 'LL',
  [-3]: 'RL',
  [-4]: 'LR',
  [-5]: 'XX',
  [-6]: 'YY',
  [-7]: 'XY',
  [-8]: 'YX',
};

/** The image's own axes replace east, north and up: its horizon is known only from its own edge. */
const ownAxes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } } as const;

export function lookAtImage(path: string, image: ReadFitsImage): ImageLook {
  const number = (keyword: string): number | undefined => {
    const value = image.details[keyword];
    return typeof value === 'number' ? value : undefined;
  };
  refuseTurned(path, image, number);
  const { pixels, pixelSize, centre, channels } = image;
  const plane = centred(path, image, number);
  const directions = tangentDirections(centre);
  const { peak, l, m } = brightest(plane, pixels, pixelSize);
  const {
    BMAJ: majorDeg,
    BMIN: minorDeg,
    BPA: positionAngleDeg,
  } = { BMAJ: number('BMAJ'), BMIN: number('BMIN'), BPA: number('BPA') };
  const [frequencyHz, integrationS] = [number('CRVAL3'), number('EXPTIME')];
  const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
  const facts: ImageFacts = {
    pixels,
    pixelDeg: pixelSize * DEGREES_PER_RADIAN,
    channels,
    stokes: Array.from({ length: image.planes }, (_, k) => {
      const code = (number('CRVAL4') ?? 1) + k * (number('CDELT4') ?? 1);
      return stokesNames[code] ?? `code ${code}`;
    }),
    unit: image.unit === '' ? 'unit unknown' : image.unit,
    centre,
    frequencyHz,
    ...(majorDeg !== undefined &&
      minorDeg !== undefined && { beam: { majorDeg, minorDeg, positionAngleDeg: positionAngleDeg ?? 0 } }),
    integrationS,
    peak,
    peakAt: directions.positionOf({ x: l, y: m, z: n }),
    rms: spread(plane),
  };
  const field = fieldOf(plane, pixels, pixelSize);
  return { facts, plane, plan: { pixels, pixelSize, field, axes: ownAxes }, directions };
}

/** Pictures have north up and square pixels. */
function refuseTurned(
  path: string,
  { pixelSize }: ReadFitsImage,
  number: (keyword: string) => number | undefined,
): void {
  const stepDeg = pixelSize * DEGREES_PER_RADIAN;
  const turned = ['CROTA1', 'CROTA2', 'PC1_2', 'PC2_1', 'CD1_2', 'CD2_1', 'PV2_1', 'PV2_2'].find(
    (keyword) => (number(keyword) ?? 0) !== 0,
  );
  const isSquare = Math.abs((number('CDELT1') ?? 0) + stepDeg) < 1e-6 * stepDeg;
  if (turned !== undefined || !isSquare)
    refuse(
      path,
      turned === undefined
        ? 'its pixels are not square with east to the left'
        : `its axes are turned or slanted (${turned})`,
      'open it with a FITS viewer',
    );
}

/** The first plane, averaged over channels and moved so that its reference pixel is (n/2, n/2). */
function centred(
  path: string,
  { values, pixels, channels }: ReadFitsImage,
  number: (keyword: string) => number | undefined,
): PlaneML {
  // The file's columns count from 1 in the east; here they count from 0 in the west.
  const column = pixels - (number('CRPIX1') ?? pixels / 2);
  const row = (number('CRPIX2') ?? pixels / 2 + 1) - 1;
  const [right, up] = [column - pixels / 2, row - pixels / 2];
  if (!Number.isInteger(right) || !Number.isInteger(up))
    refuse(path, 'its reference is between two pixels', 'open it with a FITS viewer');
  const plane = planeML(new Float64Array(pixels * pixels).fill(Number.NaN), pixels);
  const size = pixels * pixels;
  for (let y = 0; y < pixels; y++) {
    for (let x = 0; x < pixels; x++) {
      const [fromY, fromX] = [y + up, x + right];
      if (fromY < 0 || fromY >= pixels || fromX < 0 || fromX >= pixels) continue;
      let [sum, count] = [0, 0];
      for (let c = 0; c < channels; c++) {
        const value = values[c * size + fromY * pixels + fromX];
        if (!Number.isFinite(value)) continue;
        sum += value;
        count++;
      }
      if (count > 0) plane[y * pixels + x] = sum / count;
    }
  }
  return plane;
}

function brightest(
  plane: PlaneML,
  pixels: number,
  pixelSize: number,
): { peak: number; l: number; m: number } {
  let best = -1;
  plane.forEach((value, at) => {
    if (!Number.isNaN(value) && (best < 0 || value > plane[best])) best = at;
  });
  if (best < 0) return { peak: Number.NaN, l: 0, m: 0 };
  const cosine = (index: number): number => (index - pixels / 2) * pixelSize;
  return { peak: plane[best], l: cosine(best % pixels), m: cosine(Math.floor(best / pixels)) };
}

/** Rms of the values between the 17th and the 83rd percentile of Gaussian noise, relative to its full rms. */
const GAUSSIAN = 0.5305;
function spread(plane: PlaneML): number {
  const sorted = plane.filter((value) => !Number.isNaN(value)).sort();
  const middle = sorted.subarray(Math.floor(sorted.length / 6), Math.ceil((5 * sorted.length) / 6));
  const mean = middle.reduce((sum, value) => sum + value, 0) / middle.length;
  const square = middle.reduce((sum, value) => sum + (value - mean) ** 2, 0) / middle.length;
  return Math.sqrt(square) / GAUSSIAN;
}

/** As wide as the pixels with values; the whole sky if they reach the horizon. */
function fieldOf(plane: PlaneML, pixels: number, pixelSize: number): SkyPlan['field'] {
  let most = 0;
  plane.forEach((value, at) => {
    if (Number.isNaN(value)) return;
    most = Math.max(
      most,
      Math.abs((at % pixels) - pixels / 2),
      Math.abs(Math.floor(at / pixels) - pixels / 2),
    );
  });
  const half = Math.max(1, most) * pixelSize;
  return half > 1 - 2 * pixelSize
    ? { kind: 'all-sky' }
    : { kind: 'field', widthDeg: 2 * Math.asin(half) * DEGREES_PER_RADIAN };
}

/** J2000 to the image's own axes and back: l east, m north, n towards the centre. */
function tangentDirections(centre: SkyPosition): SkyDirections {
  const n = unitVectorJ2000(centre);
  const ra = centre.raDeg / DEGREES_PER_RADIAN;
  const l = { x: -Math.sin(ra), y: Math.cos(ra), z: 0 };
  const m = cross(n, l);
  const along = (k: keyof Vector3, { x, y, z }: Vector3): number => x * l[k] + y * m[k] + z * n[k];
  return {
    directionEnu: (position) => {
      const towards = unitVectorJ2000(position);
      return { x: dot(towards, l), y: dot(towards, m), z: dot(towards, n) };
    },
    positionOf: (own) => positionFromJ2000({ x: along('x', own), y: along('y', own), z: along('z', own) }),
  };
}

export function imagePicture(look: ImageLook, image: ReadFitsImage, title: string): Picture {
  const words = (keyword: string): string[] => {
    const value = image.details[keyword];
    return typeof value === 'string' && value !== '' ? [value] : [];
  };
  const { frequencyHz, beam, integrationS, channels, unit, stokes } = look.facts;
  return skyPicture({
    plane: look.plane,
    plan: look.plan,
    frame: look.directions,
    title: [
      title,
      ...words('TELESCOP'),
      ...words('OBJECT'),
      ...words('DATE-OBS'),
      ...(frequencyHz === undefined ? [] : [formatHz(frequencyHz)]),
      ...(channels > 1 ? [`mean of ${channels} channels`] : []),
    ],
    unit,
    // A beam is the array's response to a point, of any polarisation.
    ...(unit === 'beam' ? {} : { stokes: stokes[0] }),
    integrationS,
    beam,
    sources: [],
  });
}
