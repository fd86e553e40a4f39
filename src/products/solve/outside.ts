/** Sources missing in the model, searched for at several times: each is reported at its worst. */
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
import { isWhole, type SolvedInterval } from './intervals.js';

/** A search costs as much as many solves: a long observation is searched at this many times, first to last. */
const MOST_SEARCHES = 8;

export type OutsideAt = OutsideSource & { readonly timeUtc?: string };

export function outsideOf(
  intervals: readonly (SolvedInterval & { readonly calibration: CrossHanded })[],
  telescope: Telescope,
  frequenciesHz: Float64Array,
): OutsideAt[] {
  const worst = new Map<string, OutsideAt>();
  for (const { integration, calibration, plan, sources, diffuse, time } of spread(
    intervals.filter(isWhole),
    MOST_SEARCHES,
  )) {
    // The search takes one gain per input.
    const plain = withoutLeakage(integration, calibration);
    const found = outsideModel(frameAtMiddle(telescope, integration), {
      modelled: sources,
      telescope,
      frequenciesHz,
      integration: plain.integration,
      plan,
      stationsM: stationPositions(telescope),
      calibration: { ...calibration, ...plain.calibrated },
      diffuse,
    });
    for (const one of found) {
      const before = worst.get(one.name);
      if (before && !isWorse(one, before)) continue;
      worst.set(one.name, { ...one, ...(intervals.length > 1 && { timeUtc: formatInstant(time) }) });
    }
  }
  return [...worst.values()];
}

/** A source within a degree, or within the array's resolution, is at its position. */
export const isMisplaced = ({ offsetDeg, stepDeg }: OutsideSource): boolean =>
  offsetDeg > Math.max(1, 1.5 * stepDeg);

function isWorse(one: OutsideSource, other: OutsideSource): boolean {
  if (isMisplaced(one) !== isMisplaced(other)) return isMisplaced(one);
  return Math.abs(Math.log(one.overFlux)) > Math.abs(Math.log(other.overFlux));
}
