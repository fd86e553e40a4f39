/** Nutation of the Earth's axis: IAU 2000B, within a milliarcsecond of the full theory. */
import { polynomial, RADIANS_PER_ARCSECOND } from './angles.js';
import { carriedRows } from './table.js';

export interface Nutation {
  readonly longitudeRad: number;
  readonly obliquityRad: number;
}

const UNIT_RAD = 1e-7 * RADIANS_PER_ARCSECOND;

/** Planetary terms, which 2000B replaces by constants. */
const PLANETS = {
  longitudeRad: -0.135e-3 * RADIANS_PER_ARCSECOND,
  obliquityRad: 0.388e-3 * RADIANS_PER_ARCSECOND,
};

/** Arcseconds and arcseconds per century: mean anomalies of Moon and Sun, F, D, the Moon's node. */
const ARGUMENTS = [
  [485_868.249036, 1_717_915_923.2178],
  [1_287_104.79305, 129_596_581.0481],
  [335_779.526232, 1_739_527_262.8478],
  [1_072_260.70369, 1_602_961_601.209],
  [450_160.398036, -6_962_890.5431],
] as const;

const argumentRad = (n: number, centuries: number): number =>
  (polynomial(centuries, ARGUMENTS[n]) % 1_296_000) * RADIANS_PER_ARCSECOND;

export const moonNodeRad = (centuries: number): number => argumentRad(4, centuries);

let terms: readonly (readonly number[])[] | undefined;

/** `centuries` of TT from J2000. */
export function nutation(centuries: number): Nutation {
  terms ??= carriedRows('nutation.csv').map((cells) => cells.map(Number));
  const angles = ARGUMENTS.map((_, n) => argumentRad(n, centuries));
  let longitude = 0;
  let obliquity = 0;
  for (const [l, lPrime, f, d, node, a, aT, b, c, cT, e] of terms) {
    const angle = l * angles[0] + lPrime * angles[1] + f * angles[2] + d * angles[3] + node * angles[4];
    const sin = Math.sin(angle);
    const cos = Math.cos(angle);
    longitude += (a + aT * centuries) * sin + b * cos;
    obliquity += (c + cT * centuries) * cos + e * sin;
  }
  return {
    longitudeRad: longitude * UNIT_RAD + PLANETS.longitudeRad,
    obliquityRad: obliquity * UNIT_RAD + PLANETS.obliquityRad,
  };
}
