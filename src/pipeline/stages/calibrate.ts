/** Integrations and named sources to gains: the solver is prepared once, the model follows the sky. */
import type { Backend } from '../../backend/backend.js';
import {
  leaveOutUnconverged,
  modelVisibilities,
  planCalibration,
  prepareCalibrator,
  withCrossHand,
  type CrossHanded,
  type CrossHandRule,
  type CalibrationPlan,
  type GaussianAxes,
  type IterationRule,
  type ModelComponent,
} from '../../calibrate/index.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import type { OnStep } from '../../core/progress.js';
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { sourcesUp, type SourceUp } from '../../sky/above.js';
import { elementVoltage } from '../../sky/beam.js';
import { towardsOf, ZENITH, type ElementBeam } from '../../sky/beams/element-beam.js';
import type { SkyFrame, SkyPosition, TangentAxes } from '../../sky/frame.js';
import type { GaussianShape, Source } from '../../sky/source.js';
import type { Telescope } from '../../telescope/telescope.js';
import { frameAtMiddle, stationPositions } from '../geometry.js';
import type { Stage } from './stage.js';

export interface CalibrateSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly polarisations: 1 | 2;
  readonly sources: readonly Source[];
  /** Sources lower than this are left out of the model. */
  readonly minimumAltitudeDeg: number;
  readonly iterations?: IterationRule;
  readonly referenceStation?: number;
  readonly minimumBaselineM?: number;
  /** How stations hear the sky; as the telescope says unless told. */
  readonly element?: ElementBeam;
  /** What beams that follow a place are pointed at; the zenith unless told. */
  readonly followed?: SkyPosition;
  /** How X and Y get one phase; by polarised sources of the model unless told, and unknown where it has none. */
  readonly crossHand?: CrossHandRule;
  readonly onStep?: OnStep;
}

export interface CalibratedIntegration {
  readonly integration: Integration;
  /** Without the gains of solves that were given up before they converged. */
  readonly calibration: CrossHanded;
  readonly plan: CalibrationPlan;
  /** What the model was made of. */
  readonly sources: readonly SourceUp[];
}

/** Shapes take a frame: without one all are points. */
export function modelComponents(
  telescope: Telescope,
  frequenciesHz: Float64Array,
  up: readonly SourceUp[],
  frame?: SkyFrame,
  element?: { readonly beam: ElementBeam; readonly towardsEnu: Vector3 },
): ModelComponent[] {
  const beamTo = (direction: Vector3): ModelComponent['beam'] => {
    if (!element) return elementVoltage(telescope, direction);
    const both = Array.from(frequenciesHz, (frequencyHz) =>
      element.beam.voltage(frequencyHz, direction, element.towardsEnu),
    );
    return { x: Float64Array.from(both, ([x]) => x), y: Float64Array.from(both, ([, y]) => y) };
  };
  return up.map(({ source, directionEnu, position }) => ({
    directionEnu,
    fluxJy: frequenciesHz.map((frequencyHz) => source.fluxJy(frequencyHz)),
    beam: beamTo(directionEnu) ?? 1,
    fractionQ: source.stokes.q,
    fractionU: source.stokes.u,
    fractionV: source.stokes.v,
    ...(source.shape && frame && { gaussian: gaussianAxes(source.shape, frame.tangentAxes(position)) }),
  }));
}

/** The longer axis runs from north, m, through east, l. */
function gaussianAxes(
  { majorDeg, minorDeg, positionAngleDeg }: GaussianShape,
  { l, m }: TangentAxes,
): GaussianAxes {
  const angle = positionAngleDeg * RADIANS_PER_DEGREE;
  const along = (ofL: number, ofM: number, lengthDeg: number): Vector3 => {
    const scale = lengthDeg * RADIANS_PER_DEGREE;
    return {
      x: scale * (ofL * l.x + ofM * m.x),
      y: scale * (ofL * l.y + ofM * m.y),
      z: scale * (ofL * l.z + ofM * m.z),
    };
  };
  return {
    majorEnu: along(Math.sin(angle), Math.cos(angle), majorDeg),
    minorEnu: along(Math.cos(angle), -Math.sin(angle), minorDeg),
  };
}

/** Cross hands take two polarisations, and a model that says what they should be. */
function crossHandRule(
  { crossHand = { kind: 'model' }, polarisations }: CalibrateSettings,
  components: readonly ModelComponent[],
): CrossHandRule {
  if (polarisations === 1) return { kind: 'unknown' };
  const isPolarised = components.some(({ fractionU, fractionV }) => fractionU !== 0 || fractionV !== 0);
  return crossHand.kind === 'model' && !isPolarised ? { kind: 'unknown' } : crossHand;
}

/** The stage from integrations to gains by a model of the sky. */
export async function prepareCalibrate(
  settings: CalibrateSettings,
): Promise<Stage<Integration, CalibratedIntegration>> {
  const { backend, telescope, frequenciesHz, polarisations, minimumAltitudeDeg } = settings;
  const stationsM = stationPositions(telescope);
  const plan = planCalibration({
    stations: telescope.stations.length,
    polarisations,
    channels: frequenciesHz.length,
    ...(settings.iterations === undefined ? {} : { iterations: settings.iterations }),
    ...(settings.referenceStation === undefined ? {} : { referenceStation: settings.referenceStation }),
    ...(settings.minimumBaselineM === undefined
      ? {}
      : { shortest: { stationsM, minimumM: settings.minimumBaselineM } }),
  });
  const calibrator = await prepareCalibrator(plan, backend);
  const frequencyHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  return {
    push: async (integration, emit) => {
      const frame = frameAtMiddle(telescope, integration);
      const up = sourcesUp(settings.sources, frame, minimumAltitudeDeg, { telescope, frequencyHz });
      if (up.length === 0) {
        refuse(
          'calibrate',
          `none of ${settings.sources.map(({ name }) => name).join(', ')} is above ${minimumAltitudeDeg}° at that time`,
          'name sources that were up, or lower --min-altitude',
        );
      }
      settings.onStep?.(0.05, 'the model');
      const followedEnu = settings.followed ? frame.directionEnu(settings.followed) : ZENITH;
      const { element } = settings;
      const components = modelComponents(
        telescope,
        frequenciesHz,
        up,
        frame,
        element && { beam: element, towardsEnu: towardsOf(element, followedEnu) },
      );
      const model = modelVisibilities({ stationsM, frequenciesHz, polarisations, components });
      settings.onStep?.(0.5, 'the gains');
      const found = await calibrator.solve({ ...integration, model });
      // Whoever asks for a fixed count takes what it gives.
      const solved = plan.iterations.kind === 'until' ? leaveOutUnconverged(found) : found;
      const rule = crossHandRule(settings, components);
      const calibration = withCrossHand(solved, { ...integration, model }, rule, {
        ...{ stationsM, frequenciesHz, components },
      });
      await emit({ integration, calibration, plan, sources: up });
    },
    flush: () => Promise.resolve(),
    account: () => ({}),
    close: () => calibrator.close(),
  };
}
