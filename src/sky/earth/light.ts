/** What happens to a direction on the light's last way: the Sun bends it, and the observer's flight tilts it forward. */
import { dot, normalise, type Vector3 } from '../../core/vector.js';

export interface Observer {
  /** In units of the speed of light. */
  readonly velocity: Vector3;
  /** Towards the Sun, of length one, and how far it is in au. */
  readonly towardsSun: Vector3;
  readonly sunAu: number;
}

/** The Sun's Schwarzschild radius, au: light is bent by 1.75″ at the limb. */
const SUN_RADIUS_AU = 1.97412574336e-8;
/** Within the disc, where no light comes past the Sun, the bending dies away. */
const LEAST = 1e-6;

/** A source far behind the Sun is seen farther from it. */
function deflected(direction: Vector3, { towardsSun, sunAu }: Observer): Vector3 {
  const cosine = dot(direction, towardsSun);
  const bend = SUN_RADIUS_AU / sunAu / Math.max(1 - cosine, LEAST);
  return normalise({
    x: direction.x + bend * (cosine * direction.x - towardsSun.x),
    y: direction.y + bend * (cosine * direction.y - towardsSun.y),
    z: direction.z + bend * (cosine * direction.z - towardsSun.z),
  });
}

/** Special relativity's, whole: 20.5″ of the Earth's flight, 0.3″ of its spin. */
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

/** From where a source is (ICRS) to where it is seen, on the same axes. */
export const apparent = (direction: Vector3, observer: Observer): Vector3 =>
  aberrated(deflected(direction, observer), observer);

/** Back. Each step shrinks what is left by 10⁴, beside the Sun's limb by 100. */
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
