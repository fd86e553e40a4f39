/** A place that is tracked, or that files are phased to, and is below the horizon. */
import { addSeconds, type Instant } from '../core/instant.js';
import { message, type Message } from '../messages/index.js';
import { altitudeDeg, skyFrame } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Site } from '../telescope/telescope.js';

/** The sky rotates by 2.5° meanwhile. */
const STEP_S = 600;

/** `field`: where it was given. Of data without a known end, at their start. */
export function lowCentre(
  field: string,
  centre: PhaseCentre | undefined,
  site: Site,
  { start, durationS }: { readonly start: Instant; readonly durationS: number },
): Message[] {
  if (!centre) return [];
  const steps = Number.isFinite(durationS) ? Math.max(1, Math.ceil(durationS / STEP_S)) : 0;
  const altitudes = Array.from({ length: steps + 1 }, (_, k) =>
    altitudeDeg(
      centre.directionEnu(skyFrame(site, steps === 0 ? start : addSeconds(start, (k / steps) * durationS))),
    ),
  );
  const [lowestDeg, highestDeg] = [Math.min(...altitudes), Math.max(...altitudes)];
  if (lowestDeg >= 0) return [];
  return [message('sky.centre-below-horizon', { field, name: centre.name, lowestDeg, highestDeg })];
}
