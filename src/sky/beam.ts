/** How an element receives a direction. */
import type { Vector3 } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';
import { rmsOf, scaled, telescopeJones, type FeedJones } from './feeds.js';
import type { TangentAxes } from './frame.js';

/** The root of the mean of |X|² and |Y|² of a bare dipole's projection: (1 + sin²(altitude))/2, however dipoles are rotated. */
export const dipoleVoltage = ({ z }: Vector3): number => Math.sqrt((1 + z * z) / 2);

/**
 * The root of the mean power of X and Y: cos(zenith angle)^beamExponent, nothing below the horizon. Of fixed dipoles whose
 * beam is not stated (0) it is that of their projection.
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

/** What the element makes of a wave: its feeds' Jones matrix, scaled so that the mean power of X and Y is the element's. */
export function elementJones(telescope: Telescope, axes: TangentAxes): FeedJones {
  const jones = telescopeJones(telescope, axes);
  return scaled(jones, elementVoltage(telescope, axes.n) / rmsOf(jones));
}
