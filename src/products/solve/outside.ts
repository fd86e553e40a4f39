/** Sources that are not in the model, looked for at several times: each is reported at its worst. */
import type { CrossHanded } from '../../calibrate/index.js';
import { formatInstant } from '../../core/instant.js';
import {
  withoutLeakage,
  outsideModel,
  type OutsideSource,
  frameAtMiddle,
  stationPositions,
  spread,
} from '../../stages/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { isWhole, type Stretch } from './stretches.js';

/** A search costs as much as many a solve: a long observation is searched at this many times, from the first to the last. */
const MOST_SEARCHES = 8;

export type OutsideAt = OutsideSource & { readonly timeUtc?: string };

export function outsideOf(
  stretches: readonly (Stretch & { readonly calibration: CrossHanded })[],
  telescope: Telescope,
  frequenciesHz: Float64Array,
): OutsideAt[] {
  const worst = new Map<string, OutsideAt>();
  for (const { integration, calibration, plan, sources, diffuse, time } of spread(
    stretches.filter(isWhole),
    MOST_SEARCHES,
  )) {
    // One gain an input is what the search takes.
    const plain = withoutLeakage(integration, calibration);
    const found = outsideModel(sources, frameAtMiddle(telescope, integration), {
      ...{ telescope, frequenciesHz, integration: plain.integration, plan },
      stationsM: stationPositions(telescope),
      calibration: { ...calibration, ...plain.calibrated },
      ...(diffuse && { diffuse }),
    });
    for (const one of found) {
      const before = worst.get(one.name);
      if (before && !isWorse(one, before)) continue;
      worst.set(one.name, { ...one, ...(stretches.length > 1 && { timeUtc: formatInstant(time) }) });
    }
  }
  return [...worst.values()];
}

/** Within a degree, or what the array resolves, it is at its place. */
export const isMisplaced = ({ offsetDeg, stepDeg }: OutsideSource): boolean =>
  offsetDeg > Math.max(1, 1.5 * stepDeg);

function isWorse(one: OutsideSource, other: OutsideSource): boolean {
  if (isMisplaced(one) !== isMisplaced(other)) return isMisplaced(one);
  return Math.abs(Math.log(one.overFlux)) > Math.abs(Math.log(other.overFlux));
}
