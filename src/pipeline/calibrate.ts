/** Visibilities and named sources in, gains out. */
import type { Backend } from '../backend/backend.js';
import {
  modelVisibilities,
  planCalibration,
  prepareCalibrator,
  type Calibration,
  type CalibrationPlan,
  type IterationRule,
  type ModelComponent,
} from '../calibrate/index.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { sourcesUp, type SourceUp } from '../sky/above.js';
import { elementVoltage } from '../sky/beam.js';
import type { Source } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import { frameAtMiddle, stationPositions } from './geometry.js';

export interface CalibrateSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly sources: readonly Source[];
  /** Sources lower than this are left out of the model. */
  readonly minimumAltitudeDeg: number;
  readonly iterations?: IterationRule;
  readonly referenceStation?: number;
  readonly minimumBaselineM?: number;
}

export interface CalibratedIntegration {
  readonly calibration: Calibration;
  readonly plan: CalibrationPlan;
  /** What the model was made of. */
  readonly sources: readonly SourceUp[];
}

export function modelComponents(
  telescope: Telescope,
  frequenciesHz: Float64Array,
  up: readonly SourceUp[],
): ModelComponent[] {
  return up.map(({ source, directionEnu }) => ({
    directionEnu,
    fluxJy: frequenciesHz.map((frequencyHz) => source.fluxJy(frequencyHz)),
    beam: elementVoltage(telescope, directionEnu),
    fractionQ: source.stokes.q,
  }));
}

export async function calibrateIntegration(
  integration: Integration,
  settings: CalibrateSettings,
): Promise<CalibratedIntegration> {
  const { telescope, frequenciesHz, backend } = settings;
  const frame = frameAtMiddle(telescope, integration);
  const middleHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  const up = sourcesUp(settings.sources, frame, settings.minimumAltitudeDeg, {
    telescope,
    frequencyHz: middleHz,
  });
  if (up.length === 0) {
    refuse(
      'calibrate',
      `none of ${settings.sources.map(({ name }) => name).join(', ')} is above ${settings.minimumAltitudeDeg}° at that time`,
      'name sources that were up, or lower --min-altitude',
    );
  }
  const stationsM = stationPositions(telescope);
  const plan = planCalibration({
    stations: integration.stations,
    polarisations: integration.polarisations,
    channels: integration.channels,
    ...(settings.iterations === undefined ? {} : { iterations: settings.iterations }),
    ...(settings.referenceStation === undefined ? {} : { referenceStation: settings.referenceStation }),
    ...(settings.minimumBaselineM === undefined
      ? {}
      : { shortest: { stationsM, minimumM: settings.minimumBaselineM } }),
  });
  const model = modelVisibilities({
    stationsM,
    frequenciesHz,
    polarisations: integration.polarisations,
    components: modelComponents(telescope, frequenciesHz, up),
  });
  const calibrator = await prepareCalibrator(plan, backend);
  try {
    return { calibration: await calibrator.solve({ ...integration, model }), plan, sources: up };
  } finally {
    calibrator.close();
  }
}
