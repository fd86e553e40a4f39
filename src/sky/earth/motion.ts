/** Position of the Sun and velocity of the Earth, for deflection and aberration. */
import { AstroTime, BaryState, Body } from 'astronomy-engine';
import { SPEED_OF_LIGHT_M_PER_S, SECONDS_PER_DAY } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { carriedRows } from './table.js';

export const METRES_PER_AU = 149_597_870_700;
const AU_PER_DAY = METRES_PER_AU / SECONDS_PER_DAY / SPEED_OF_LIGHT_M_PER_S;

/**
 * Velocity of the Earth's centre about the solar system's barycentre, in units of the speed of light, on ICRS axes. Its
 * error is 2e-8 of 1e-4.
 */
export function earthVelocity(ttDays: number): Vector3 {
  const { vx, vy, vz } = BaryState(Body.Earth, AstroTime.FromTerrestrialTime(ttDays));
  return { x: vx * AU_PER_DAY, y: vy * AU_PER_DAY, z: vz * AU_PER_DAY };
}

interface Term {
  readonly power: number;
  readonly amplitude: number;
  readonly phase: number;
  readonly rate: number;
}
type Coordinate = 'longitude' | 'latitude' | 'distance';

let series: Readonly<Record<Coordinate, readonly Term[]>> | undefined;

function readSeries(): Readonly<Record<Coordinate, readonly Term[]>> {
  const rows = carriedRows('vsop87-earth.csv');
  const of = (coordinate: Coordinate): Term[] =>
    rows
      .filter(([name]) => name === coordinate)
      .map(([, ...cells]) => {
        const [power, amplitude, phase, rate] = cells.map(Number);
        return { power, amplitude, phase, rate };
      });
  return { longitude: of('longitude'), latitude: of('latitude'), distance: of('distance') };
}

/** From the Earth's centre to the Sun's, au on ICRS axes, corrected for light time; within 0.3″. */
export function sunVector(ttDays: number): Vector3 {
  const t = ttDays / 365_250;
  const { longitude, latitude, distance } = (series ??= readSeries());
  const sum = (terms: readonly Term[]): number =>
    terms.reduce(
      (total, { power, amplitude, phase, rate }) =>
        total + t ** power * amplitude * Math.cos(phase + rate * t),
      0,
    );
  const l = sum(longitude);
  const b = sum(latitude);
  const r = sum(distance);
  // The Sun moves only 6 km in the 500 s light time. Its direction from the Earth is opposite to the Earth's.
  const x = -r * Math.cos(b) * Math.cos(l);
  const y = -r * Math.cos(b) * Math.sin(l);
  const z = -r * Math.sin(b);
  // From the theory's ecliptic to the equator of J2000 (the authors' own angles).
  return {
    x: x + 0.00000044036 * y - 0.000000190919 * z,
    y: -0.000000479966 * x + 0.917482137087 * y - 0.397776982902 * z,
    z: 0.397776982902 * y + 0.917482137087 * z,
  };
}
