/** Which sources of the catalogue can tell whether gains are right: bright, up, and not in the model. */
import type { Calibration, CalibrationPlan } from '../../calibrate/index.js';
import type { Integration } from '../../core/blocks.js';
import { dot, type Vector3 } from '../../core/vector.js';
import { sourcesUp, type SourceUp } from '../../sky/above.js';
import type { SkyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import type { Telescope } from '../../telescope/telescope.js';
import { findOutside, type OutsideData, type OutsideSource } from './outside.js';

/** Lower ones are seen through too little of a beam that nobody knows. */
const LEAST_ALTITUDE_DEG = 15;
/** Of the model's brightest. */
const LEAST_FLUX = 0.05;
/** A peak of less is anything's. */
const LEAST_SIGNIFICANCE = 4;
/** Nearer than this, 10°, a source of the model leaves too much of itself. */
const FAR_ENOUGH = Math.cos((10 * Math.PI) / 180);

interface OutsideFacts {
  readonly telescope: Telescope;
  readonly stationsM: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  readonly integration: Integration;
  readonly calibration: Calibration;
  readonly plan: CalibrationPlan;
  /** What a diffuse sky in the model put there. */
  readonly diffuse?: NonNullable<OutsideData['diffuse']>;
}

/** Each with where it was found; none where none is bright enough. */
export function outsideModel(
  modelled: readonly SourceUp[],
  frame: SkyFrame,
  { telescope, frequenciesHz, plan, ...data }: OutsideFacts,
): OutsideSource[] {
  const frequencyHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  const brightest = modelled.reduce((most, { apparentFluxJy }) => Math.max(most, apparentFluxJy), 0);
  return sourcesUp(findSources('all'), frame, LEAST_ALTITUDE_DEG, { telescope, frequencyHz })
    .filter(({ apparentFluxJy }) => apparentFluxJy > LEAST_FLUX * brightest)
    .filter(({ directionEnu }) => modelled.every((one) => dot(one.directionEnu, directionEnu) < FAR_ENOUGH))
    .flatMap((source) => {
      const found = findOutside(
        { ...data, frequenciesHz, modelled, usedBaselines: plan.usedBaselines },
        source,
      );
      return found && found.significance > LEAST_SIGNIFICANCE ? [found] : [];
    });
}
