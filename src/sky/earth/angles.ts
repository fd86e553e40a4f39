/** Polynomials and rotations in the form used by theories of the Earth's motion. */
import type { Vector3 } from '../../core/vector.js';
import { dot } from '../../core/vector.js';

export const RADIANS_PER_ARCSECOND = Math.PI / 180 / 3600;

/** Σ coefficients[n] · tⁿ */
export const polynomial = (t: number, coefficients: readonly number[]): number =>
  coefficients.reduceRight((sum, coefficient) => sum * t + coefficient, 0);

/** Rows: each new axis, written in the old ones. */
export interface Rotation {
  readonly x: Vector3;
  readonly y: Vector3;
  readonly z: Vector3;
}

export const apply = ({ x, y, z }: Rotation, vector: Vector3): Vector3 => ({
  x: dot(x, vector),
  y: dot(y, vector),
  z: dot(z, vector),
});

/** Inverse: from the new axes to the old ones. */
export const applyInverse = ({ x, y, z }: Rotation, { x: a, y: b, z: c }: Vector3): Vector3 => ({
  x: a * x.x + b * y.x + c * z.x,
  y: a * x.y + b * y.y + c * z.y,
  z: a * x.z + b * y.z + c * z.z,
});

const mix = (a: number, first: Vector3, b: number, second: Vector3): Vector3 => ({
  x: a * first.x + b * second.x,
  y: a * first.y + b * second.y,
  z: a * first.z + b * second.z,
});

/** The axes rotated by an angle about one of them, from the first of the other two towards the second. */
export function turned(axes: Rotation, about: 'x' | 'y' | 'z', angleRad: number): Rotation {
  const cos = Math.cos(angleRad);
  const sin = Math.sin(angleRad);
  const { x, y, z } = axes;
  switch (about) {
    case 'x':
      return { x, y: mix(cos, y, sin, z), z: mix(-sin, y, cos, z) };
    case 'y':
      return { x: mix(cos, x, -sin, z), y, z: mix(sin, x, cos, z) };
    case 'z':
      return { x: mix(cos, x, sin, y), y: mix(-sin, x, cos, y), z };
  }
}

export const sameAxes: Rotation = {
  x: { x: 1, y: 0, z: 0 },
  y: { x: 0, y: 1, z: 0 },
  z: { x: 0, y: 0, z: 1 },
};
