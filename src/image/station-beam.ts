/** The beam of an array with all of its stations, for headers and pictures of methods that make none. */
import { planeML } from '../core/axes.js';
import { CorellaError } from '../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { placesOf } from './aperture.js';
import type { ImagePlan } from './plan.js';
import { fitBeam, type FittedBeam } from './wide/beam.js';

/** Steps across λ/D, the width of the beam, and steps along each side. */
const STEPS_A_BEAM = 8;
const SIDE = 64;

/** |Σ_a e^(−2πi r_a·ŝ/λ)|² / N² round the centre at the middle of the band, fitted; undefined where it has no peak. */
export function stationBeam({
  stationsM,
  axes,
  frequenciesHz,
}: Pick<ImagePlan, 'stationsM' | 'axes' | 'frequenciesHz'>): FittedBeam | undefined {
  const places = placesOf(stationsM, axes);
  const wavelengthM = SPEED_OF_LIGHT_M_PER_S / frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  const widestM = places.reduce(
    (most, a) => Math.max(most, Math.hypot(a.l - places[0].l, a.m - places[0].m)),
    0,
  );
  if (!(widestM > 0)) return undefined;
  const pixelCosine = wavelengthM / (STEPS_A_BEAM * widestM);
  if ((SIDE / 2) * pixelCosine > 1) return undefined;
  const beam = new Float64Array(SIDE * SIDE);
  for (let at = 0; at < beam.length; at++) {
    const l = ((at % SIDE) - SIDE / 2) * pixelCosine;
    const m = (Math.floor(at / SIDE) - SIDE / 2) * pixelCosine;
    const n = Math.sqrt(Math.max(0, 1 - l * l - m * m)) - 1;
    let re = 0;
    let im = 0;
    for (const place of places) {
      const angle = (2 * Math.PI * (place.l * l + place.m * m + place.n * n)) / wavelengthM;
      re += Math.cos(angle);
      im += Math.sin(angle);
    }
    beam[at] = (re * re + im * im) / places.length ** 2;
  }
  try {
    return fitBeam({ pixels: SIDE, pixelCosine }, planeML(beam, SIDE));
  } catch (error) {
    if (error instanceof CorellaError) return undefined;
    throw error;
  }
}
