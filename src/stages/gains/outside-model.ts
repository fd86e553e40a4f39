/** Which sources of the catalogue can check the gains: bright, up, and not in the model. */
import type { Calibration, CalibrationPlan } from '../../calibrate/index.js';
import type { Integration } from '../../core/blocks.js';
import { dot, type Vector3 } from '../../core/vector.js';
import { sourcesUp, type SourceUp } from '../../sky/above.js';
import type { SkyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import type { Telescope } from '../../telescope/telescope.js';
import { findOutside, type OutsideData, type OutsideSource } from './outside.js';

/** Lower sources are seen through a part of the beam that is poorly known. */
const LEAST_ALTITUDE_DEG = 15;
/** Relative to the model's brightest. */
const LEAST_FLUX = 0.05;
/** A lower peak is not significant. */
const LEAST_SIGNIFICANCE = 4;
/** Nearer than this, 10°, a source of the model leaves too large a residual. */
const FAR_ENOUGH = Math.cos((10 * Math.PI) / 180);

interface OutsideFacts {
  readonly telescope: Telescope;
  readonly stationsM: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  readonly integration: Integration;
  readonly calibration: Calibration;
  readonly plan: CalibrationPlan;
  /** The diffuse sky in the model. */
  readonly diffuse?: NonNullable<OutsideData['diffuse']>;
}

/** Each with where it was found; empty where none is bright enough. */
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
