/**
 * The plane that an array's stations are in. Stations on a slope are flat in their own plane, and gridding kernels
 * represent small heights best: images whose axes are normal to that plane are right where images round the zenith are
 * not. They need no resampling and have no extra cost.
 */
import { CorellaError } from '../core/errors.js';
import { cross, dot, normalise, type Vector3 } from '../core/vector.js';
import { altitudeDeg, azimuthDeg, type TangentAxes } from '../sky/frame.js';
import { fittingPixels } from './aperture.js';
import { directErrorEstimate } from './direct/holds.js';
import { planImage, type ImageOptions } from './plan.js';

const UP: Vector3 = { x: 0, y: 0, z: 1 };

/** The upward unit vector of the plane through the stations with the least squared heights. */
export function planeNormal(stationsM: readonly Vector3[]): Vector3 {
  // Stations that are left out have another one's place: each place counts once.
  const places = [...new Map(stationsM.map((place) => [`${place.x} ${place.y} ${place.z}`, place])).values()];
  const mean = (of: (place: Vector3) => number): number =>
    places.reduce((sum, place) => sum + of(place), 0) / places.length;
  const centre = { x: mean(({ x }) => x), y: mean(({ y }) => y), z: mean(({ z }) => z) };
  const product = (a: keyof Vector3, b: keyof Vector3): number =>
    mean((place) => (place[a] - centre[a]) * (place[b] - centre[b]));
  const [xx, xy, yy, xz, yz] = [
    product('x', 'x'),
    product('x', 'y'),
    product('y', 'y'),
    product('x', 'z'),
    product('y', 'z'),
  ];
  // Along the two principal directions of the array: no slope is fitted in one without extent.
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  let normal = UP;
  for (const [east, north] of [
    [Math.cos(angle), Math.sin(angle)],
    [-Math.sin(angle), Math.cos(angle)],
  ]) {
    const extent = east * east * xx + 2 * east * north * xy + north * north * yy;
    if (!(extent > 1e-9 * (xx + yy))) continue;
    const slope = (east * xz + north * yz) / extent;
    normal = { x: normal.x - slope * east, y: normal.y - slope * north, z: 1 };
  }
  return normalise(normal);
}

/** Above this estimated error, relative to a source's peak, the plane is considered instead of the zenith. */
const MOST_ZENITH_ERROR = 5e-3;
/** And used where its error is at most this fraction of the zenith's. */
const WORTHWHILE = 0.5;

export interface ImageCentre {
  /** The image's centre over the ground; the zenith exactly, or the normal of the stations' plane. */
  readonly normalEnu: Vector3;
}

/** The image options that the choice depends on: neither the moment nor J2000, so it is one for a whole run. */
type CentreOptions = Pick<ImageOptions, 'field' | 'stationsM' | 'frequenciesHz' | 'kernel' | 'patterns'> & {
  readonly pixels?: number;
};

/** The zenith, unless its error is above 0.5 % of a source and that of the stations' own plane at most half of it. */
export function chooseCentre(options: CentreOptions): ImageCentre {
  const zenithError = errorAround(UP, options);
  if (zenithError <= MOST_ZENITH_ERROR) return { normalEnu: UP };
  const normalEnu = planeNormal(options.stationsM);
  const planeError = errorAround(normalEnu, options);
  const isTaken = planeError < Infinity && planeError <= WORTHWHILE * zenithError;
  return { normalEnu: isTaken ? normalEnu : UP };
}

function errorAround(normalEnu: Vector3, options: CentreOptions): number {
  const { frequenciesHz } = options;
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  const single = {
    ...options,
    axes: groundAxes(normalEnu),
    frequenciesHz: Float64Array.of(highestHz),
    polarisations: 1 as const,
  };
  try {
    return directErrorEstimate(planImage({ ...single, pixels: options.pixels ?? fittingPixels(single) }));
  } catch (error) {
    // Kernels that cannot represent the heights, or a grid that is too small, are refused by the plan of the image
    // itself.
    if (error instanceof CorellaError) return Infinity;
    throw error;
  }
}

/** Axes round a direction over the ground: l as near to east as possible. */
export function groundAxes(n: Vector3): TangentAxes {
  const l = normalise(cross({ x: 0, y: 1, z: 0 }, n));
  return { l, m: cross(n, l), n };
}

/** A plane that is level to a thousandth of a second of arc is level. */
const LEVEL = 5e-9;
/** Whether a direction is straight up. */
export const isZenith = ({ x, y }: Vector3): boolean => Math.hypot(x, y) < LEVEL;

export interface Tilt {
  /** Of the image's centre from the zenith. */
  readonly fromZenithDeg: number;
  /** The azimuth of the tilt, from north through east. */
  readonly azimuthDeg: number;
}

/** How far an image's centre is from the zenith; undefined where it is the zenith. */
export const tiltOf = ({ n }: Pick<TangentAxes, 'n'>): Tilt | undefined =>
  isZenith(n) ? undefined : { fromZenithDeg: 90 - altitudeDeg(n), azimuthDeg: azimuthDeg(n) };

/**
 * How far from the centre an image of the whole sky reaches along a direction in it, in direction cosines. On the low
 * side it ends at the true horizon; on the other side at 1, the rim of the projection, which is above the horizon.
 */
export function skyReach({ l, m, n }: TangentAxes, east: number, north: number): number {
  const length = Math.hypot(east, north);
  const up = length > 0 ? (l.z * east + m.z * north) / length : 0;
  return up >= 0 ? 1 : n.z / Math.hypot(n.z, up);
}

/** Direction cosines along an image's axes, also for directions behind its plane. */
export const alongImage = ({ l, m }: TangentAxes, direction: Vector3): { l: number; m: number } => ({
  l: dot(l, direction),
  m: dot(m, direction),
});
