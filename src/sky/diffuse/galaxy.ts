/**
 * The Galaxy by formula: an axially symmetric emissivity fitted to the 408 MHz sky of Haslam et al. (1982, in the
 * version of Remazeilles et al. 2015) by Cong et al. (2021, ApJ, doi:10.3847/1538-4357/abf55c), and an isotropic
 * extragalactic part.
 *
 *   T(l, b) = ∫ A·((R + r₁)/R₀)^α · e^(−R/R₀) · e^(−(|Z|/Z₀)^γ) ds · (f/408 MHz)^−2.51  +  1.2 K·(f/GHz)^−2.58
 *
 * R and Z are distances from the Galaxy's axis and plane, the Sun at R = 8.5 kpc. A smooth disc without spurs, loops,
 * arms, the Magellanic Clouds and remnants; single directions are wrong by tens of per cent.
 */
import type { Vector3 } from '../../core/vector.js';
import type { DiffuseSky } from './diffuse.js';
import { galactic } from './equatorial.js';

/** Rounded from the published program of Cong et al. (2021, github.com/Yanping-Cong/ULSA). */
const EMISSIVITY = {
  kelvinPerKpc: 43.1,
  radiusKpc: 3.41,
  softeningKpc: 0.1,
  power: 0.46,
  heightKpc: 1.12,
  shape: 1.23,
  sunKpc: 8.5,
  farKpc: 50,
  spectralIndex: -2.51,
  atHz: 408e6,
};
const EXTRAGALACTIC = { kelvin: 1.2, spectralIndex: -2.58, atHz: 1e9 };

const RADIANS = Math.PI / 180;

/** Steps along a line of sight, shorter near the Sun: s = far·t². Accurate to 0.5 %. */
const STEPS = 400;

/** The Galaxy alone at 408 MHz, along a line of sight. */
export function galacticKelvin408(lDeg: number, bDeg: number): number {
  const { kelvinPerKpc, radiusKpc, softeningKpc, power, heightKpc, shape, sunKpc, farKpc } = EMISSIVITY;
  const [cosL, cosB, sinB] = [
    Math.cos(lDeg * RADIANS),
    Math.cos(bDeg * RADIANS),
    Math.abs(Math.sin(bDeg * RADIANS)),
  ];
  let sum = 0;
  for (let k = 0; k < STEPS; k++) {
    const t = (k + 0.5) / STEPS;
    const s = farKpc * t * t;
    const along = s * cosB;
    const radius = Math.sqrt(Math.max(0, sunKpc ** 2 + along ** 2 - 2 * sunKpc * along * cosL));
    const disc = ((radius + softeningKpc) / radiusKpc) ** power * Math.exp(-radius / radiusKpc);
    sum += disc * Math.exp(-(((s * sinB) / heightKpc) ** shape)) * ((2 * farKpc * t) / STEPS);
  }
  return kelvinPerKpc * sum;
}

/** Total temperature at a frequency. */
export function skyKelvin(kelvin408: number, frequencyHz: number): number {
  const { kelvin, spectralIndex, atHz } = EXTRAGALACTIC;
  return (
    kelvin408 * (frequencyHz / EMISSIVITY.atHz) ** EMISSIVITY.spectralIndex +
    kelvin * (frequencyHz / atHz) ** spectralIndex
  );
}

export const galaxy: DiffuseSky = {
  name: 'galaxy',
  title: 'a smooth disc fitted to the 408 MHz sky (Cong et al. 2021) and an extragalactic part',
  temperaturesK: ({ directionsEnu }, frame, frequenciesHz) => {
    const channels = frequenciesHz.length;
    const temperatures = new Float64Array(directionsEnu.length * channels);
    directionsEnu.forEach((direction: Vector3, cell) => {
      const { lDeg, bDeg } = galactic(frame.positionOf(direction));
      const kelvin408 = galacticKelvin408(lDeg, bDeg);
      frequenciesHz.forEach((frequencyHz, c) => {
        temperatures[cell * channels + c] = skyKelvin(kelvin408, frequencyHz);
      });
    });
    return temperatures;
  },
};
