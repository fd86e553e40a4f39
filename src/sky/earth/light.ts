/** Gravitational deflection by the Sun and aberration by the observer's velocity. */
import { dot, normalise, type Vector3 } from '../../core/vector.js';

export interface Observer {
  /** In units of the speed of light. */
  readonly velocity: Vector3;
  /** Unit vector towards the Sun, and its distance in au. */
  readonly towardsSun: Vector3;
  readonly sunAu: number;
}

/** The Sun's Schwarzschild radius, au: deflects light by 1.75″ at the limb. */
const SUN_RADIUS_AU = 1.97412574336e-8;
/** Behind the disc no light passes the Sun, and the deflection is reduced to 0. */
const LEAST = 1e-6;

/** A source far behind the Sun appears farther from it. */
function deflected(direction: Vector3, { towardsSun, sunAu }: Observer): Vector3 {
  const cosine = dot(direction, towardsSun);
  const bend = SUN_RADIUS_AU / sunAu / Math.max(1 - cosine, LEAST);
  return normalise({
    x: direction.x + bend * (cosine * direction.x - towardsSun.x),
    y: direction.y + bend * (cosine * direction.y - towardsSun.y),
    z: direction.z + bend * (cosine * direction.z - towardsSun.z),
  });
}

/** Full special relativity: 20.5″ from the Earth's orbit, 0.3″ from its rotation. */
function aberrated(direction: Vector3, { velocity }: Observer): Vector3 {
  const inverseGamma = Math.sqrt(1 - dot(velocity, velocity));
  const along = dot(direction, velocity);
  const forward = 1 + along / (1 + inverseGamma);
  return normalise({
    x: inverseGamma * direction.x + forward * velocity.x,
    y: inverseGamma * direction.y + forward * velocity.y,
    z: inverseGamma * direction.z + forward * velocity.z,
  });
}

/** From the true direction of a source (ICRS) to the apparent one, on the same axes. */
export const apparent = (direction: Vector3, observer: Observer): Vector3 =>
  aberrated(deflected(direction, observer), observer);

/** The inverse. Each iteration shrinks the error by 10⁴, near the Sun's limb by 100. */
export function unapparent(seen: Vector3, observer: Observer): Vector3 {
  let direction = seen;
  for (let step = 0; step < 6; step++) {
    const again = apparent(direction, observer);
    direction = normalise({
      x: direction.x + seen.x - again.x,
      y: direction.y + seen.y - again.y,
      z: direction.z + seen.z - again.z,
    });
  }
  return direction;
}
