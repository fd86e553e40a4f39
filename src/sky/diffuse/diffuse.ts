/** Diffuse sky emission as temperatures, and the flux of one cell. */
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { SkyFrame } from '../frame.js';
import type { SkyCells } from './cells.js';

export interface DiffuseSky {
  /** As requested. */
  readonly name: string;
  /** Its origin and accuracy, for users. */
  readonly title: string;
  /** temperaturesK : [cell][c] */
  temperaturesK(cells: SkyCells, frame: SkyFrame, frequenciesHz: Float64Array): Float64Array;
}

const BOLTZMANN_J_PER_K = 1.380649e-23;
const JY = 1e-26;

/** Rayleigh–Jeans, total of both polarisations as in Stokes I: 2kT·f²/c² · Ω. */
export const fluxOfTemperature = (temperatureK: number, frequencyHz: number, solidAngleSr: number): number =>
  (2 * BOLTZMANN_J_PER_K * temperatureK * frequencyHz ** 2 * solidAngleSr) / SPEED_OF_LIGHT_M_PER_S ** 2 / JY;
