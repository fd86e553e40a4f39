/** Where stations are and where a telescope points at a moment, in the form each module uses. */
import { addSeconds, type Instant } from '../core/instant.js';
import type { Vector3 } from '../core/vector.js';
import type { VisibilityHeader } from '../formats/index.js';
import { skyFrame, type SkyFrame, type TangentAxes } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Site, Telescope } from '../telescope/telescope.js';

export const stationPositions = (telescope: Telescope): Vector3[] =>
  telescope.stations.map(({ eastM, northM, upM }) => ({ x: eastM, y: northM, z: upM }));

/** The frame at the middle of a time range, where its geometry is right on average. */
export const frameAtMiddle = (
  telescope: Telescope,
  range: { readonly start: Instant; readonly durationS: number },
): SkyFrame => skyFrame(telescope.site, addSeconds(range.start, range.durationS / 2));

export function longestBaselineM(stationsM: readonly Vector3[]): number {
  let longest = 0;
  for (const [i, a] of stationsM.entries())
    for (const b of stationsM.slice(0, i))
      longest = Math.max(longest, Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z));
  return longest;
}

/** The direction whose cosines along the axes are these. */
export const alongAxes = ({ l, m, n }: TangentAxes, a: number, b: number, c: number): Vector3 => ({
  x: a * l.x + b * m.x + c * n.x,
  y: a * l.y + b * m.y + c * n.y,
  z: a * l.z + b * m.z + c * n.z,
});

/** One place for a whole file: a moving target is at its place at the middle. */
export const phasedAt = (
  centre: PhaseCentre,
  site: Site,
  middle: Instant,
): Pick<VisibilityHeader, 'phaseCentre' | 'object'> => ({
  phaseCentre: centre.position(skyFrame(site, middle)),
  object: centre.name,
});
