/** Phase corrections applied on reading: the correlator's fringe stopping, and cables on request. */
import { addSeconds, type Instant } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot, type Vector3 } from '../../../core/vector.js';
import { directionFromAltAz, skyFrame } from '../../../sky/frame.js';
import type { Observation } from './metafits.js';

const TURN = 2 * Math.PI;

/** The correlator's fringe-stopping direction; undefined if fringes are running. */
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
 * The excess delay of each recorded input, in metres: V₁₂ is corrected by e^(+2πi f (late₁ − late₂)/c). A cable of
 * length L delays its signal by L/c, x ∝ e^(−2πi f L/c); fringe stopping towards ŝ removed x ∝ e^(+2πi f r·ŝ/c).
 * Undefined if there is nothing to correct.
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
