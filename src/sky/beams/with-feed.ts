/** Beams of stations whose X and Y are dipoles fixed to the ground: the response of each dipole. */
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import type { Telescope } from '../../telescope/telescope.js';
import { dipoleVoltage } from '../beam.js';
import { X_EAST_DEG } from '../feeds.js';
import type { ElementBeam } from './element-beam.js';

/** The lengths of the projections of X and Y perpendicular to the line of sight: √(1 − (ŝ·d)²). */
export function projectedLengths(
  { x, y }: Vector3,
  { feedAngleDeg = X_EAST_DEG }: Pick<Telescope, 'feedAngleDeg'>,
): readonly [x: number, y: number] {
  const angle = feedAngleDeg * RADIANS_PER_DEGREE;
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const across = (along: number): number => Math.sqrt(Math.max(0, 1 - along * along));
  return [across(x * sine + y * cosine), across(y * sine - x * cosine)];
}

/**
 * A beam stated for X and Y jointly is their mean power: each receives its share by its projection. Beams that state X
 * and Y separately include this already, and dishes that follow a source need none.
 */
export function withFeed(
  beam: ElementBeam,
  telescope: Pick<Telescope, 'mount' | 'feedAngleDeg'>,
): ElementBeam {
  if (telescope.mount !== 'fixed' || beam.states === 'each') return beam;
  return {
    ...beam,
    voltage: (frequencyHz, directionEnu, towardsEnu) => {
      const [x, y, xIm = 0, yIm = 0] = beam.voltage(frequencyHz, directionEnu, towardsEnu);
      const [ofX, ofY] = projectedLengths(directionEnu, telescope);
      const over = beam.states === 'nothing' ? 1 : dipoleVoltage(directionEnu);
      return [(x * ofX) / over, (y * ofY) / over, (xIm * ofX) / over, (yIm * ofY) / over];
    },
  };
}
