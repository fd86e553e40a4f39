/** Beams by formula. All are 1 in their pointing direction and 0 below the horizon. */
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import type { ElementBeam } from './element-beam.js';

type Voltage = ElementBeam['voltage'];

const NOTHING = [0, 0] as const;

/** cos(zenith angle)^exponent, the same for X and Y. */
export const cosine =
  (exponent: number): Voltage =>
  (_frequencyHz, { z }) =>
    z <= 0 ? NOTHING : [z ** exponent, z ** exponent];

/**
 * A short horizontal dipole above a conducting plane: √(1 − (ŝ·d)²) along the dipole d, times sin(2π h/λ cos θ) of the
 * dipole and its image, relative to its value at the zenith. X is east–west, Y north–south.
 */
export const dipoleOverGround =
  (heightM: number): Voltage =>
  (frequencyHz, { x, y, z }) => {
    if (z <= 0) return NOTHING;
    const height = (2 * Math.PI * frequencyHz * heightM) / SPEED_OF_LIGHT_M_PER_S;
    const ground = Math.sin(height * z) / Math.sin(height);
    return [ground * Math.sqrt(Math.max(0, 1 - x * x)), ground * Math.sqrt(Math.max(0, 1 - y * y))];
  };

interface Tile {
  /** Elements along each side; spacing in metres. */
  readonly side: number;
  readonly spacingM: number;
  /** Delays are whole multiples of this. */
  readonly stepS: number;
  readonly element: Voltage;
}

/** Elements on a square grid, summed with delays that point the tile; 1 where all are in phase. */
export const tile = ({ side, spacingM, stepS, element }: Tile): Voltage => {
  const places = Array.from({ length: side * side }, (_, n) => ({
    x: ((n % side) - (side - 1) / 2) * spacingM,
    y: (Math.floor(n / side) - (side - 1) / 2) * spacingM,
    z: 0,
  }));
  return (frequencyHz, direction, towards) => {
    const [x, y] = element(frequencyHz, direction, towards);
    const [x0, y0] = element(frequencyHz, towards, towards);
    if (direction.z <= 0 || x0 === 0 || y0 === 0) return NOTHING;
    let [re, im, re0, im0] = [0, 0, 0, 0];
    for (const place of places) {
      const steps = Math.round(dot(place, towards) / SPEED_OF_LIGHT_M_PER_S / stepS);
      const phase = (at: Vector3): number =>
        2 * Math.PI * frequencyHz * (dot(place, at) / SPEED_OF_LIGHT_M_PER_S - steps * stepS);
      re += Math.cos(phase(direction));
      im += Math.sin(phase(direction));
      re0 += Math.cos(phase(towards));
      im0 += Math.sin(phase(towards));
    }
    const array = Math.hypot(re, im) / Math.hypot(re0, im0);
    return [(array * x) / x0, (array * y) / y0];
  };
};

/** Sine of the angle between two directions, accurate for small ones. */
const sineBetween = (a: Vector3, b: Vector3): number =>
  Math.hypot(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);

/** A uniformly illuminated dish: 2·J₁(x)/x with x = π·D·sin θ/λ. Keeps the signs of sidelobes. */
export const airy =
  (diameterM: number): Voltage =>
  (frequencyHz, direction, towards) => {
    if (direction.z <= 0 || dot(direction, towards) <= 0) return NOTHING;
    const x = (Math.PI * diameterM * frequencyHz * sineBetween(direction, towards)) / SPEED_OF_LIGHT_M_PER_S;
    const voltage = x < 1e-6 ? 1 : (2 * besselJ1(x)) / x;
    return [voltage, voltage];
  };

/** J₁(x) = (1/π)∫₀^π cos(τ − x sin τ) dτ: over a period the trapezoid rule converges faster than any power. */
export function besselJ1(x: number): number {
  const steps = 32 + Math.ceil(2 * Math.abs(x));
  let sum = 0;
  for (let k = 0; k < steps; k++) {
    const angle = (2 * Math.PI * (k + 0.5)) / steps;
    sum += Math.cos(angle - x * Math.sin(angle));
  }
  return sum / steps;
}

/**
 * A dish with cosine-tapered illumination: cos(1.189π·ρ/θ)/(1 − 4(1.189·ρ/θ)²), θ the full width at half power, which
 * shrinks as 1/frequency (Condon & Ransom 2016; Mauch et al. 2020 for MeerKAT).
 */
export const cosineTaper =
  (widthDeg: number, atHz: number): Voltage =>
  (frequencyHz, direction, towards) => {
    if (direction.z <= 0 || dot(direction, towards) <= 0) return NOTHING;
    const rho = Math.asin(Math.min(1, sineBetween(direction, towards))) * (180 / Math.PI);
    const x = (1.189 * rho * frequencyHz) / (widthDeg * atHz);
    // At x = 1/2 numerator and denominator vanish: the limit is π/4.
    const voltage = Math.abs(x - 0.5) < 1e-7 ? Math.PI / 4 : Math.cos(Math.PI * x) / (1 - 4 * x * x);
    return [voltage, voltage];
  };
