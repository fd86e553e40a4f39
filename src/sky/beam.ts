/** How an element hears a direction. */
import type { Vector3 } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';

/** Voltage, X and Y alike: cos(zenith angle)^beamExponent, nothing below the horizon. Power is its square. */
export const elementVoltage = (telescope: Telescope, directionEnu: Vector3): number =>
  directionEnu.z <= 0 ? 0 : directionEnu.z ** telescope.beamExponent;
