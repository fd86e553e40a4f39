/** The response of an element to a direction. */
import type { Vector3 } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';
import { rmsOf, scaled, telescopeJones, type FeedJones } from './feeds.js';
import type { TangentAxes } from './frame.js';

/**
 * The square root of the mean of |X|² and |Y|² of a bare dipole's projection: (1 + sin²(altitude))/2, for any rotation
 * of the dipoles.
 */
export const dipoleVoltage = ({ z }: Vector3): number => Math.sqrt((1 + z * z) / 2);

/**
 * The square root of the mean power of X and Y: cos(zenith angle)^beamExponent, 0 below the horizon. For fixed dipoles
 * without a stated beam (0), that of their projection.
 */
export const elementVoltage = (
  { beamExponent, mount }: Pick<Telescope, 'beamExponent' | 'mount'>,
  directionEnu: Vector3,
): number =>
  directionEnu.z <= 0
    ? 0
    : beamExponent === 0 && mount === 'fixed'
      ? dipoleVoltage(directionEnu)
      : directionEnu.z ** beamExponent;

/**
 * The element's response to a wave: its feeds' Jones matrix, scaled so that the mean power of X and Y is the element's.
 */
export function elementJones(telescope: Telescope, axes: TangentAxes): FeedJones {
  const jones = telescopeJones(telescope, axes);
  return scaled(jones, elementVoltage(telescope, axes.n) / rmsOf(jones));
}
