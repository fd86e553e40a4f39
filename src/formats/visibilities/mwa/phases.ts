/** Phases that are put right as an integration is read: the correlator's stopped fringes, and the cables if asked. */
import { addSeconds, type Instant } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot, type Vector3 } from '../../../core/vector.js';
import { directionFromAltAz, skyFrame } from '../../../sky/frame.js';
import type { Observation } from './metafits.js';

const TURN = 2 * Math.PI;

/** The direction in which the correlator stopped the fringes; undefined where they run. */
function stoppedDirection(observation: Observation, middle: Instant): Vector3 | undefined {
  const { pointing, phaseCentre, telescope } = observation;
  switch (observation.applied.stopped) {
    case 'nowhere':
      return undefined;
    case 'zenith':
      return { x: 0, y: 0, z: 1 };
    case 'tile pointing':
      return directionFromAltAz(pointing.altitudeDeg, pointing.azimuthDeg);
    case 'phase centre':
      return skyFrame(telescope.site, middle).directionEnu(phaseCentre);
  }
}

/**
 * How much later than we want each input's signal is on record, in metres: V₁₂ is made right by
 * e^(+2πi f (late₁ − late₂)/c). A cable of length L delays its signal by L/c, x ∝ e^(−2πi f L/c); fringes stopped
 * towards ŝ had x ∝ e^(+2πi f r·ŝ/c) taken out. Undefined where all is as it should be.
 */
export function latenessM(
  observation: Observation,
  cables: 'keep' | 'remove',
  start: Instant,
): Float64Array | undefined {
  const middle = addSeconds(start, observation.integrationS / 2);
  const direction = stoppedDirection(observation, middle);
  if (direction === undefined && cables === 'keep') return undefined;
  return Float64Array.from(observation.cableM, (cableM, a) => {
    const { eastM, northM, upM } = observation.telescope.stations[a >> 1];
    const stoppedM = direction === undefined ? 0 : dot({ x: eastM, y: northM, z: upM }, direction);
    return stoppedM + (cables === 'remove' ? cableM : 0);
  });
}

export const phaseOf = (frequencyHz: number, pathM: number): number =>
  (TURN * frequencyHz * pathM) / SPEED_OF_LIGHT_M_PER_S;
