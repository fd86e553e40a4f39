/** The level of sidelobes, which is reported and drawn for arrays of few stations. */
import type { PlaneML } from '../core/axes.js';
import { percent } from '../core/units.js';
import { sidelobesOf, type Sidelobes } from '../image/index.js';
import type { Telescope } from '../telescope/telescope.js';

/** Arrays with fewer stations have sidelobes that are easily taken for sources. */
const FEW_STATIONS = 32;

export type DirtyBeam = Sidelobes & { readonly plane: PlaneML };

/** The dirty beam of an array of few stations, with the level of its sidelobes; plane : [m][l]. */
export function fewStationsBeam(
  { stations }: Pick<Telescope, 'stations'>,
  pixels: number,
  plane: PlaneML,
): DirtyBeam | undefined {
  const sidelobes = stations.length < FEW_STATIONS ? sidelobesOf(pixels, plane) : undefined;
  return sidelobes && { plane, ...sidelobes };
}

/** "sidelobes up to 34 % of the peak, down to −21 %" */
export const sidelobesText = ({ highest, lowest }: Sidelobes): string =>
  `sidelobes up to ${percent(highest)} of the peak${lowest < 0 ? `, down to −${percent(-lowest)}` : ''}`;
