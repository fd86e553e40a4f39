/** One place for a whole file: a moving target is at its place at the middle. */
import type { Instant } from '../core/instant.js';
import type { VisibilityHeader } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Site } from '../telescope/telescope.js';

export const phasedAt = (
  centre: PhaseCentre,
  site: Site,
  middle: Instant,
): Pick<VisibilityHeader, 'phaseCentre' | 'object'> => ({
  phaseCentre: centre.position(skyFrame(site, middle)),
  object: centre.name,
});
