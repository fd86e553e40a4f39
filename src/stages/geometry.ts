/** Where a telescope points at a moment, in the form each module uses. */
import { addSeconds, type Instant } from '../core/instant.js';
import type { Vector3 } from '../core/vector.js';
import { skyFrame, type SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';

export const stationPositions = (telescope: Telescope): Vector3[] =>
  telescope.stations.map(({ eastM, northM, upM }) => ({ x: eastM, y: northM, z: upM }));

/** The frame at the middle of a time range, where its geometry is right on average. */
export const frameAtMiddle = (
  telescope: Telescope,
  range: { readonly start: Instant; readonly durationS: number },
): SkyFrame => skyFrame(telescope.site, addSeconds(range.start, range.durationS / 2));
