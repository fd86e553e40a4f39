/** Reads a FITS image, from Corella or other programs: contents, brightness, and a picture. */
import { planeML, type PlaneML } from '../core/axes.js';
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
  /** Along the longer side. */
  readonly pixels: number;
  readonly width: number;
  readonly height: number;
  readonly pixelDeg: number;
  readonly channels: number;
  /** Of a series: images in time, in place of channels. */
  readonly times?: number;
  /** "I", "Q", …, "XX": one for each plane; none where the file does not state them. */
  readonly stokes: readonly string[];
  readonly unit: string;
  readonly centre: SkyPosition;
  readonly frequencyHz?: number;
  readonly beam?: BeamEllipse;
  readonly integrationS?: number;
  /** For the first plane, averaged over channels or times. */
  readonly peak: number;
  readonly peakAt: SkyPosition;
  /** About zero, over the middle two thirds: noise and sidelobes rather than sources. */
  readonly rms: number;
}

interface ImageLook {
  readonly facts: ImageFacts;
  /** The first plane. */
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

export function lookAtImage(image: ReadFitsImage): ImageLook {
  const number = (keyword: string): number | undefined => {
    const value = image.details[keyword];
    return typeof value === 'number' ? value : undefined;
  };
  const { pixels, pixelSize, channels, times, size, stokes, frequencyHz } = image;
  const plane = firstPlane(image);
  const directions = tangentDirections(image);
  const { peak, l, m } = brightest(plane, pixels, pixelSize);
  const {
    BMAJ: majorDeg,
    BMIN: minorDeg,
    BPA: positionAngleDeg,
  } = { BMAJ: number('BMAJ'), BMIN: number('BMIN'), BPA: number('BPA') };
  const integrationS = number('EXPTIME');
  const facts: ImageFacts = {
    pixels: Math.max(size.columns, size.rows),
    width: size.columns,
    height: size.rows,
    pixelDeg: pixelSize * DEGREES_PER_RADIAN,
    channels: times === undefined ? channels : 1,
    ...(times !== undefined && { times }),
    stokes: (stokes ?? []).map((code) => stokesNames[code] ?? `code ${code}`),
    unit: image.unit === '' ? 'unit unknown' : image.unit,
    centre: directions.positionOf({ x: 0, y: 0, z: 1 }),
    frequencyHz,
    ...(majorDeg !== undefined &&
      minorDeg !== undefined && { beam: { majorDeg, minorDeg, positionAngleDeg: positionAngleDeg ?? 0 } }),
    integrationS,
    peak,
    peakAt: directions.positionOf({ x: l, y: m, z: 0 }),
    rms: spread(plane),
  };
  const field = fieldOf(plane, pixels, pixelSize);
  return { facts, plane, plan: { pixels, pixelSize, field, axes: ownAxes }, directions };
}

/** Averaged over channels or times. */
function firstPlane({ values, pixels, channels }: ReadFitsImage): PlaneML {
  const size = pixels * pixels;
  const plane = planeML(new Float64Array(size).fill(Number.NaN), pixels);
  for (let at = 0; at < size; at++) {
    let [sum, count] = [0, 0];
    for (let c = 0; c < channels; c++) {
      const value = values[c * size + at];
      if (!Number.isFinite(value)) continue;
      sum += value;
      count++;
    }
    if (count > 0) plane[at] = sum / count;
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

/**
 * J2000 to the image's own axes and back: x east and y north of pixel (n/2, n/2) in the plane of the projection, whose
 * centre may be elsewhere, or outside the image; z only states whether a position is in front of it.
 */
export function tangentDirections({
  centre,
  pixels,
  pixelSize,
  reference,
}: Pick<ReadFitsImage, 'centre' | 'pixels' | 'pixelSize' | 'reference'>): SkyDirections {
  const n = unitVectorJ2000(centre);
  const ra = centre.raDeg / DEGREES_PER_RADIAN;
  const l = { x: -Math.sin(ra), y: Math.cos(ra), z: 0 };
  const m = cross(n, l);
  const [east, north] = [reference.column, reference.row].map((at) => (pixels / 2 - at) * pixelSize);
  return {
    directionEnu: (position) => {
      const towards = unitVectorJ2000(position);
      return { x: dot(towards, l) - east, y: dot(towards, m) - north, z: dot(towards, n) };
    },
    positionOf: (own) => {
      const [x, y] = [own.x + east, own.y + north];
      const z = Math.sqrt(Math.max(0, 1 - x * x - y * y));
      const along = (k: keyof Vector3): number => x * l[k] + y * m[k] + z * n[k];
      return positionFromJ2000({ x: along('x'), y: along('y'), z: along('z') });
    },
  };
}

/** Smaller is not seen in a picture. */
const LEAST_TURN_DEG = 0.5;

/** North in the middle of a picture is not up where the projection's centre is elsewhere: degrees to the east. */
function northDeg({ directionEnu, positionOf }: SkyDirections): number {
  const { raDeg, decDeg } = positionOf({ x: 0, y: 0, z: 1 });
  const { x, y } = directionEnu({ raDeg, decDeg: decDeg + 1e-3 * (decDeg > 0 ? -1 : 1) });
  return Math.atan2(decDeg > 0 ? -x : x, decDeg > 0 ? -y : y) * DEGREES_PER_RADIAN;
}

function turnWords(directions: SkyDirections): string[] {
  const turnDeg = northDeg(directions);
  if (!(Math.abs(turnDeg) > LEAST_TURN_DEG)) return [];
  return [`north ${Math.abs(turnDeg).toFixed(1)}° ${turnDeg > 0 ? 'east' : 'west'} of up`];
}

export function imagePicture(look: ImageLook, image: ReadFitsImage, title: string): Picture {
  const words = (keyword: string): string[] => {
    const value = image.details[keyword];
    return typeof value === 'string' && value !== '' ? [value] : [];
  };
  const { frequencyHz, beam, integrationS, channels, times = 1, unit, stokes } = look.facts;
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
      ...(times > 1 ? [`mean of ${times} images`] : []),
      ...turnWords(look.directions),
    ],
    unit,
    // A beam is the array's response to a point, of any polarisation.
    ...(unit === 'beam' ? {} : { stokes: stokes[0] }),
    integrationS,
    beam,
    sources: [],
  });
}
