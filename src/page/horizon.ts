/** The true horizon, zenith, compass points and circles of altitude in an image whose centre may not be the zenith. */
import type { SkyAxes } from '../serve/messages.js';

/** In direction cosines. */
export interface Place {
  readonly l: number;
  readonly m: number;
}

const ROUND: SkyAxes = { l: [1, 0, 0], m: [0, 1, 0], n: [0, 0, 1] };
const STEP_DEG = 4;
const RADIANS = Math.PI / 180;

const along = (axis: readonly number[], direction: readonly number[]): number =>
  axis[0] * direction[0] + axis[1] * direction[1] + axis[2] * direction[2];

const directionOf = (altitudeDeg: number, azimuthDeg: number): number[] => {
  const [alt, az] = [altitudeDeg * RADIANS, azimuthDeg * RADIANS];
  return [Math.cos(alt) * Math.sin(az), Math.cos(alt) * Math.cos(az), Math.sin(alt)];
};

/** How far the sky reaches along a direction of the image: to the true horizon, or to the rim of the projection, 1. */
function reach({ l, m, n }: SkyAxes, east: number, north: number): number {
  const up = (l[2] * east + m[2] * north) / Math.hypot(east, north);
  return up >= 0 ? 1 : n[2] / Math.hypot(n[2], up);
}

const angles = Array.from({ length: 360 / STEP_DEG }, (_, k) => k * STEP_DEG);

/** Where the sky ends in the image. */
export const rimOf = (axes: SkyAxes = ROUND): Place[] =>
  angles.map((degrees) => {
    const [l, m] = [Math.sin(degrees * RADIANS), Math.cos(degrees * RADIANS)];
    const part = reach(axes, l, m);
    return { l: part * l, m: part * m };
  });

/** From north on. */
export const altitudeLine = (axes: SkyAxes = ROUND, altitudeDeg: number): Place[] =>
  angles.map((azimuth) => {
    const direction = directionOf(altitudeDeg, azimuth);
    return { l: along(axes.l, direction), m: along(axes.m, direction) };
  });

/** On the rim, towards an azimuth. */
export function compassPoint(axes: SkyAxes = ROUND, azimuthDeg: number): Place {
  const direction = directionOf(0, azimuthDeg);
  const [l, m] = [along(axes.l, direction), along(axes.m, direction)];
  const part = reach(axes, l, m) / Math.hypot(l, m);
  return { l: part * l, m: part * m };
}

/** Nothing where it is the image's centre. */
export const zenithOf = ({ l, m }: SkyAxes = ROUND): Place | undefined =>
  Math.hypot(l[2], m[2]) < 1e-6 ? undefined : { l: l[2], m: m[2] };
