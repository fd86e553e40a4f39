/** Integrations and named sources to gains: the solver is prepared once, the model follows the sky. */
import type { Backend } from '../../backend/backend.js';
import {
  fullModelVisibilities,
  leaveOutUnconverged,
  modelVisibilities,
  planCalibration,
  prepareCalibrator,
  prepareFullCalibrator,
  withCrossHand,
  type BeamVoltages,
  type Calibration,
  type CrossHanded,
  type CrossHandRule,
  type CalibrationPlan,
  type GaussianAxes,
  type IterationRule,
  type ModelComponent,
  type ModelOptions,
} from '../../calibrate/index.js';
import type { Integration } from '../../core/blocks.js';
import type { Closable } from '../../core/closing.js';
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
  /** A gain for each input, or a matrix of 2 × 2 for each station; each unless told. */
  readonly polarisation?: 'each' | 'full';
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
  const voltagesOf = (beam: ElementBeam, direction: Vector3, towardsEnu: Vector3): BeamVoltages => {
    const both = Array.from(frequenciesHz, (frequencyHz) => beam.voltage(frequencyHz, direction, towardsEnu));
    return { x: Float64Array.from(both, ([x]) => x), y: Float64Array.from(both, ([, y]) => y) };
  };
  const beamTo = (direction: Vector3): Pick<ModelComponent, 'beam' | 'stationBeams'> => {
    if (!element) return { beam: elementVoltage(telescope, direction) };
    const { beam, towardsEnu } = element;
    if (!beam.perStation) return { beam: voltagesOf(beam, direction, towardsEnu) };
    const made = new Map<ElementBeam, BeamVoltages>();
    for (const one of beam.perStation)
      if (!made.has(one)) made.set(one, voltagesOf(one, direction, towardsOf(one, towardsEnu)));
    return { stationBeams: beam.perStation.flatMap((one) => made.get(one) ?? []) };
  };
  return up.map(({ source, directionEnu, position }) => ({
    directionEnu,
    fluxJy: frequenciesHz.map((frequencyHz) => source.fluxJy(frequencyHz)),
    ...beamTo(directionEnu),
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
  const { telescope, frequenciesHz, polarisations, minimumAltitudeDeg } = settings;
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
  const solve = await (settings.polarisation === 'full' ? prepareFull : prepareEach)(plan, settings);
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
      const calibration = await solve.push(integration, { stationsM, frequenciesHz, components });
      await emit({ integration, calibration, plan, sources: up });
    },
    flush: () => Promise.resolve(),
    account: () => ({}),
    close: () => solve.close(),
  };
}

/** One way to solve: an integration and the sky over it in, gains out. */
interface Solve extends Closable {
  push(integration: Integration, sky: Omit<ModelOptions, 'polarisations'>): Promise<CrossHanded>;
}

/** Whoever asks for a fixed count takes what it gives. */
const kept = <Found extends Calibration>(plan: CalibrationPlan, found: Found): Found =>
  plan.iterations.kind === 'until' ? leaveOutUnconverged(found) : found;

async function prepareEach(plan: CalibrationPlan, settings: CalibrateSettings): Promise<Solve> {
  const calibrator = await prepareCalibrator(plan, settings.backend);
  return {
    push: async (integration, sky) => {
      const model = modelVisibilities({ ...sky, polarisations: plan.polarisations });
      settings.onStep?.(0.5, 'the gains');
      const solved = kept(plan, await calibrator.solve({ ...integration, model }));
      return withCrossHand(solved, { ...integration, model }, crossHandRule(settings, sky.components), sky);
    },
    close: () => calibrator.close(),
  };
}

/** The phase between X and Y is the model's, or unknown: it is solved with everything else. */
async function prepareFull(plan: CalibrationPlan, settings: CalibrateSettings): Promise<Solve> {
  const calibrator = await prepareFullCalibrator(plan, settings.backend);
  return {
    push: async (integration, sky) => {
      const model = fullModelVisibilities(sky);
      settings.onStep?.(0.5, 'the gains');
      return kept(plan, await calibrator.solve({ ...integration, model }));
    },
    close: () => calibrator.close(),
  };
}
