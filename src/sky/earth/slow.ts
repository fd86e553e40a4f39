/**
 * Quantities that change slowly and take 0.1 ms to compute: nutation, the Earth's velocity, the Sun. Computed every
 * full hour and interpolated linearly: errors at most 10 µas in nutation and aberration, 0.02″ in the Sun.
 */
import type { Vector3 } from '../../core/vector.js';
import { earthVelocity, sunVector } from './motion.js';
import { nutation, type Nutation } from './nutation.js';

interface SlowSky {
  readonly nutation: Nutation;
  /** Velocity of the Earth's centre, in units of the speed of light. */
  readonly velocity: Vector3;
  /** From the Earth's centre, au. */
  readonly sun: Vector3;
}

const PER_DAY = 24;
/** Hours kept; the oldest are dropped first. */
const KEPT = 48;
const hours = new Map<number, SlowSky>();

function atHour(hour: number): SlowSky {
  const known = hours.get(hour);
  if (known) return known;
  const ttDays = hour / PER_DAY;
  const slow = {
    nutation: nutation(ttDays / 36_525),
    velocity: earthVelocity(ttDays),
    sun: sunVector(ttDays),
  };
  if (hours.size >= KEPT) for (const oldest of [...hours.keys()].slice(0, KEPT / 2)) hours.delete(oldest);
  hours.set(hour, slow);
  return slow;
}

export function slowSky(ttDays: number): SlowSky {
  const hour = Math.floor(ttDays * PER_DAY);
  const part = ttDays * PER_DAY - hour;
  const from = atHour(hour);
  const to = atHour(hour + 1);
  const between = (first: number, second: number): number => first + part * (second - first);
  const vector = (first: Vector3, second: Vector3): Vector3 => ({
    x: between(first.x, second.x),
    y: between(first.y, second.y),
    z: between(first.z, second.z),
  });
  return {
    nutation: {
      longitudeRad: between(from.nutation.longitudeRad, to.nutation.longitudeRad),
      obliquityRad: between(from.nutation.obliquityRad, to.nutation.obliquityRad),
    },
    velocity: vector(from.velocity, to.velocity),
    sun: vector(from.sun, to.sun),
  };
}
