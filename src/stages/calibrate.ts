/** Solves gains from integrations and named sources: the solver is prepared once, the model follows the sky. */
import type { Backend } from '../backend/backend.js';
import {
  fullModelVisibilities,
  leaveOutUnconverged,
  modelVisibilities,
  planCalibration,
  prepareCalibrator,
  prepareFullCalibrator,
  residualsOf,
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
} from '../calibrate/index.js';
import type { Integration } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { OnStep } from '../core/progress.js';
import { addSeconds } from '../core/instant.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import { sourcesUp, type SourceUp } from '../sky/above.js';
import { dipoleVoltage, elementVoltage } from '../sky/beam.js';
import { towardsOf, ZENITH, type ElementBeam } from '../sky/beams/element-beam.js';
import { projectedLengths } from '../sky/beams/with-feed.js';
import type { DiffuseSky } from '../sky/diffuse/diffuse.js';
import { skyFrame, type SkyFrame, type SkyPosition, type TangentAxes } from '../sky/frame.js';
import { axesTowards, normalisedRows, spreadDeg, telescopeJones, throughFeed } from '../sky/feeds.js';
import type { GaussianShape, Source } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import { frameAtMiddle, longestBaselineM, stationPositions } from './geometry.js';
import { diffuseModel, diffuseVisibilities, type DiffuseModel } from './diffuse-model.js';
import { keepsNothing, type Stage } from './stage.js';

type Feeds = 'linear' | 'circular';

export interface CalibrateSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly polarisations: 1 | 2;
  /** What X and Y stand for: R and L for circular feeds. Linear by default. */
  readonly feeds?: Feeds;
  readonly sources: readonly Source[];
  /** Whether visibilities follow the sky through an integration, or its fringes run; running by default. */
  readonly fringes?: 'running' | 'stopped';
  /** Sources lower than this are left out of the model. */
  readonly minimumAltitudeDeg: number;
  readonly iterations?: IterationRule;
  readonly referenceStation?: number;
  readonly minimumBaselineM?: number;
  /** The diffuse sky, in addition to the sources; none by default. */
  readonly diffuse?: DiffuseSky;
  /** The element beam of the stations; the telescope's own by default. */
  readonly element?: ElementBeam;
  /** The place that tracking beams point at; the zenith by default. */
  readonly followed?: SkyPosition;
  /**
   * How the phase between X and Y is found; from polarised sources of the model by default, unknown where it has none.
   */
  readonly crossHand?: CrossHandRule;
  /** A gain for each input, or a 2 × 2 matrix for each station; `each` by default. */
  readonly polarisation?: 'each' | 'full';
  readonly onStep?: OnStep;
}

export interface CalibratedIntegration {
  readonly integration: Integration;
  /** Without the gains of solves that stopped before they converged. */
  readonly calibration: CrossHanded;
  readonly plan: CalibrationPlan;
  /** What the model was made of. */
  readonly sources: readonly SourceUp[];
  /** Stokes I of the diffuse sky in the model, where there is one. */
  readonly diffuse?: DiffuseStokesI;
  /**
   * The residuals that other gains would leave of these data, for each solve; the model is computed again. Only for one
   * gain per input.
   */
  readonly residualsOf?: ResidualsOf;
}

type ResidualsOf = (found: Pick<Calibration, 'gains' | 'solved'>) => Float64Array;

/** Of a channel and a baseline, Jy. */
type DiffuseStokesI = (channel: number, baseline: number) => readonly [re: number, im: number];

/** The element beam in a direction, common to all stations or per station. */
interface Element {
  readonly beam: ElementBeam;
  readonly towardsEnu: Vector3;
}

/** Differences between X and Y below this are rounding. */
const ALIKE = 1e-9;

/** Circular feeds combine both dipoles: if the dipole beams differ, R and L have leakage, which gains do not model. */
function refuseUnlike(beam: ElementBeam, [x, y, xIm = 0, yIm = 0]: ReturnType<ElementBeam['voltage']>): void {
  if (Math.hypot(x - y, xIm - yIm) > ALIKE * (Math.hypot(x, xIm) + Math.hypot(y, yIm)))
    refuse(
      'element',
      `${beam.name} differs between X and Y, and these data are of circular feeds`,
      'give a beam that is the same for both, or a table of their mean power',
    );
}

/** The beam towards a component of the model. */
function beamsFor(
  telescope: Telescope,
  frequenciesHz: Float64Array,
  element: Element | undefined,
  feeds: Feeds = 'linear',
) {
  const voltagesOf = (beam: ElementBeam, direction: Vector3, towardsEnu: Vector3): BeamVoltages => {
    const both = Array.from(frequenciesHz, (frequencyHz) => beam.voltage(frequencyHz, direction, towardsEnu));
    if (feeds === 'circular') for (const one of both) refuseUnlike(beam, one);
    const hasPhases = both.some(([, , xIm = 0, yIm = 0]) => xIm !== 0 || yIm !== 0);
    return {
      x: Float64Array.from(both, ([x]) => x),
      y: Float64Array.from(both, ([, y]) => y),
      ...(hasPhases && {
        xIm: Float64Array.from(both, ([, , xIm = 0]) => xIm),
        yIm: Float64Array.from(both, ([, , , yIm = 0]) => yIm),
      }),
    };
  };
  return (direction: Vector3): Pick<ModelComponent, 'beam' | 'stationBeams'> => {
    if (!element) {
      const voltage = elementVoltage(telescope, direction);
      if (telescope.mount !== 'fixed') return { beam: voltage };
      const [x, y] = projectedLengths(direction, telescope);
      const rms = dipoleVoltage(direction);
      return {
        beam: {
          x: new Float64Array(frequenciesHz.length).fill((voltage * x) / rms),
          y: new Float64Array(frequenciesHz.length).fill((voltage * y) / rms),
        },
      };
    }
    const { beam, towardsEnu } = element;
    if (!beam.perStation) {
      const alike = voltagesOf(beam, direction, towardsEnu);
      // A phase common to all stations still rotates X against Y.
      return alike.xIm ? { stationBeams: telescope.stations.map(() => alike) } : { beam: alike };
    }
    const made = new Map<ElementBeam, BeamVoltages>();
    for (const one of beam.perStation)
      if (!made.has(one)) made.set(one, voltagesOf(one, direction, towardsOf(one, towardsEnu)));
    return { stationBeams: beam.perStation.flatMap((one) => made.get(one) ?? []) };
  };
}

/**
 * Models are of XX = I − Q, YY = I + Q and XY = U − iV. For circular feeds RR = I + V, LL = I − V and RL = Q + iU
 * replace them: −V for Q, Q for U, −U for V.
 */
const fractionsOf = ({ q, u, v }: Source['stokes'], feeds: Feeds) =>
  feeds === 'linear'
    ? { fractionQ: q, fractionU: u, fractionV: v }
    : { fractionQ: -v, fractionU: q, fractionV: -u };

/** A source in the frame of the feeds, with voltages through the beam: flux and fractions. */
function throughFeeds(
  source: Source,
  position: SkyPosition,
  frame: SkyFrame,
  telescope: Telescope,
): { readonly times: number; readonly stokes: Source['stokes'] } {
  if (!telescope.mount) return { times: 1, stokes: source.stokes };
  const jones = normalisedRows(telescopeJones(telescope, frame.tangentAxes(position)));
  const { i, q, u, v } = throughFeed(jones, { i: 1, ...source.stokes });
  return { times: i, stokes: { q: q / i, u: u / i, v: v / i } };
}

/** Only sources above the horizon. */
export function modelComponents(
  telescope: Telescope,
  frequenciesHz: Float64Array,
  up: readonly SourceUp[],
  frame: SkyFrame,
  element?: Element,
  feeds: Feeds = 'linear',
): ModelComponent[] {
  const beamTo = beamsFor(telescope, frequenciesHz, element, feeds);
  return up.map(({ source, directionEnu, position }) => {
    const { times, stokes } = throughFeeds(source, position, frame, telescope);
    return {
      directionEnu,
      fluxJy: frequenciesHz.map((frequencyHz) => times * source.fluxJy(frequencyHz)),
      ...beamTo(directionEnu),
      ...fractionsOf(stokes, feeds),
      gaussian: source.shape && gaussianAxes(source.shape, frame.tangentAxes(position)),
    };
  });
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

/** Cross hands need two polarisations, and a model that predicts them. */
function crossHandRule(
  { crossHand = { kind: 'model' }, polarisations, telescope, sources, feeds }: CalibrateSettings,
  components: readonly ModelComponent[],
): CrossHandRule {
  if (polarisations === 1) return { kind: 'unknown' };
  // Intrinsically polarised sources: the apparent polarisation of unpolarised ones is no better known than the dipoles.
  const isPolarised =
    components.some(({ fractionU, fractionV }) => fractionU !== 0 || fractionV !== 0) &&
    (telescope.mount === undefined ||
      sources.some(({ stokes: { q, u, v } }) => q !== 0 || u !== 0 || (v !== 0 && feeds !== 'circular')));
  return crossHand.kind === 'model' && !isPolarised ? { kind: 'unknown' } : crossHand;
}

/** V appears in the parallel hands of circular feeds, and does not constrain the phase between them. */
function refuseVZero({ crossHand, feeds }: CalibrateSettings): void {
  if (feeds === 'circular' && crossHand?.kind === 'v-zero')
    refuse(
      'cross-hand',
      'these data are of circular feeds: RL is Q + iU, and V = 0 does not determine the phase between R and L',
      'give model with sources whose Q and U are known (products.gains.polarise), an angle like 42deg, or earlier gains by their file',
    );
}

/** Mounts of a continent-wide telescope have different angles, which a model of one matrix cannot represent. */
function refuseSpread({ telescope, sources }: CalibrateSettings): void {
  const degrees = spreadDeg(telescope);
  if (degrees < 0.5 || !sources.some(({ stokes: { q, u } }) => q !== 0 || u !== 0)) return;
  refuse(
    'calibrate',
    `horizons differ by ${degrees.toFixed(0)} degrees over the array, and with them the angles of its feeds`,
    'leave the polarisation of sources out of the model (products.gains.polarise)',
  );
}

/** The correlation of X and Y of fixed dipoles for an unpolarised source: they do not appear at right angles. */
const alikeOf = (telescope: Telescope): ((directionEnu: Vector3) => number) | undefined =>
  telescope.mount === 'fixed'
    ? (n) => {
        const axes = axesTowards({ x: 0, y: 1, z: 0 }, n);
        return throughFeed(normalisedRows(telescopeJones(telescope, axes)), { i: 1, q: 0, u: 0, v: 0 }).u;
      }
    : undefined;

/** Sources with a flux. Satellites of unknown flux are left out; one that was named is refused. */
function shiningOf(sources: readonly Source[], frequencyHz: number): readonly Source[] {
  const shining = sources.filter((one) => one.isMoving === undefined || one.fluxJy(frequencyHz) !== 0);
  const dark = sources.find(
    (one) => !shining.includes(one) && (one.isKnownAt === undefined || shining.length === 0),
  );
  if (dark)
    refuse(
      'calibrate',
      `the flux of ${dark.name} is unknown`,
      `give it: ${dark.name}:FLUX_JY, or satellites:FLUX_JY`,
    );
  return shining;
}

/** In turns of the fastest fringe: how far a moving source goes between its places in the model. */
const STEP_TURNS = 0.1;
const MOST_STEPS = 1000;

/** A source that moves during an integration is in the model at several places, each with its part of the flux. */
function onTheirWays(
  up: readonly SourceUp[],
  middle: SkyFrame,
  { start, durationS }: Pick<Integration, 'start' | 'durationS'>,
  { telescope, frequenciesHz, fringes = 'running' }: CalibrateSettings,
): readonly SourceUp[] {
  const { site } = telescope;
  const longestM = longestBaselineM(stationPositions(telescope));
  const waves = (longestM * Math.max(...frequenciesHz)) / SPEED_OF_LIGHT_M_PER_S;
  return up.flatMap((one) => {
    const { source } = one;
    if (!source.isMoving) return [one];
    const at = (afterS: number): Pick<SourceUp, 'position' | 'directionEnu'> => {
      const frame = skyFrame(site, addSeconds(start, afterS));
      const position = source.position(frame);
      return { position, directionEnu: (fringes === 'running' ? frame : middle).directionEnu(position) };
    };
    const [first, last] = [at(0).directionEnu, at(durationS).directionEnu];
    const turns = waves * Math.hypot(last.x - first.x, last.y - first.y, last.z - first.z);
    const steps = Math.min(MOST_STEPS, Math.ceil(turns / STEP_TURNS));
    if (steps <= 1) return [one];
    const part = { ...source, fluxJy: (frequencyHz: number) => source.fluxJy(frequencyHz) / steps };
    return Array.from({ length: steps }, (_, k) => ({
      ...one,
      source: part,
      ...at(((k + 0.5) * durationS) / steps),
    }));
  });
}

/** The stage from integrations to gains by a model of the sky. */
export async function prepareCalibrate(
  settings: CalibrateSettings,
): Promise<Stage<Integration, CalibratedIntegration>> {
  const { telescope, frequenciesHz, polarisations, minimumAltitudeDeg, feeds } = settings;
  refuseVZero(settings);
  refuseSpread(settings);
  const stationsM = stationPositions(telescope);
  const plan = planCalibration({
    stations: telescope.stations.length,
    polarisations,
    channels: frequenciesHz.length,
    iterations: settings.iterations,
    referenceStation: settings.referenceStation,
    ...(settings.minimumBaselineM === undefined
      ? {}
      : { shortest: { stationsM, minimumM: settings.minimumBaselineM } }),
  });
  const solve = await (settings.polarisation === 'full' ? prepareFull : prepareEach)(plan, settings);
  const frequencyHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  return {
    push: async (integration, emit) => {
      const frame = frameAtMiddle(telescope, integration);
      const shining = shiningOf(settings.sources, frequencyHz);
      const up = sourcesUp(shining, frame, minimumAltitudeDeg, { telescope, frequencyHz });
      if (up.length === 0) {
        refuse(
          'calibrate',
          `none of ${shining.map(({ name }) => name).join(', ')} is above ${minimumAltitudeDeg}° at that time`,
          'name sources that were up, or lower products.gains.min-altitude',
        );
      }
      settings.onStep?.(0.05, 'the model');
      const followedEnu = settings.followed ? frame.directionEnu(settings.followed) : ZENITH;
      const { diffuse } = settings;
      const element = settings.element && {
        beam: settings.element,
        towardsEnu: towardsOf(settings.element, followedEnu),
      };
      const ways = onTheirWays(up, frame, integration, settings);
      const components = modelComponents(telescope, frequenciesHz, ways, frame, element, feeds);
      const beamTo = beamsFor(telescope, frequenciesHz, element, feeds);
      const everywhere =
        diffuse && diffuseModel(diffuse, frame, stationsM, frequenciesHz, beamTo, alikeOf(telescope));
      const sky = { stationsM, frequenciesHz, components };
      const { calibration, diffuseI, ...judging } = await solve.push(integration, sky, everywhere);
      const modelled = { sources: up, diffuse: diffuseI };
      await emit({ integration, calibration, plan, ...modelled, ...judging });
    },
    ...keepsNothing,
    close: () => solve.close(),
  };
}

type ModelledSky = Omit<ModelOptions, 'polarisations'>;

/** One way to solve: an integration and the sky over it in, gains out. */
interface Solve extends Closable {
  push(
    integration: Integration,
    sky: ModelledSky,
    everywhere: DiffuseModel | undefined,
  ): Promise<{
    readonly calibration: CrossHanded;
    readonly diffuseI?: DiffuseStokesI;
    readonly residualsOf?: ResidualsOf;
  }>;
}

/** A fixed iteration count keeps its result, converged or not. */
const kept = <Found extends Calibration>(plan: CalibrationPlan, found: Found): Found =>
  plan.iterations.kind === 'until' ? leaveOutUnconverged(found) : found;

/**
 * Adds a diffuse sky to model : [c][b][product], and returns what it added. Parallel hands are first and last among the
 * products.
 */
function addDiffuse(
  model: Float64Array,
  { stationsM, frequenciesHz }: ModelledSky,
  everywhere: DiffuseModel,
  polarisations: 1 | 2,
): DiffuseStokesI {
  const baselines = everywhere.modelled.length;
  const products = model.length / (2 * frequenciesHz.length * baselines);
  const kinds = products === 4 ? 'all' : 'parallel';
  const drawn = diffuseVisibilities(everywhere, stationsM, frequenciesHz, polarisations, kinds);
  for (let k = 0; k < model.length; k++) model[k] += drawn[k];
  return (c, b) => {
    const first = 2 * products * (c * baselines + b);
    const last = first + 2 * (products - 1);
    return [(drawn[first] + drawn[last]) / 2, (drawn[first + 1] + drawn[last + 1]) / 2];
  };
}

async function prepareEach(plan: CalibrationPlan, settings: CalibrateSettings): Promise<Solve> {
  const calibrator = await prepareCalibrator(plan, settings.backend);
  const { polarisations } = plan;
  return {
    push: async (integration, sky, everywhere) => {
      const modelled = () => {
        const model = modelVisibilities({ ...sky, polarisations });
        return { model, diffuseI: everywhere && addDiffuse(model, sky, everywhere, polarisations) };
      };
      const { model, diffuseI } = modelled();
      settings.onStep?.(0.5, 'the gains');
      const solved = kept(plan, await calibrator.solve({ ...integration, model }));
      const rule = crossHandRule(settings, sky.components);
      const calibration = withCrossHand(solved, { ...integration, model }, rule, sky);
      return {
        calibration,
        diffuseI,
        residualsOf: (found) => residualsOf(plan, { ...integration, model: modelled().model }, found),
      };
    },
    close: () => calibrator.close(),
  };
}

/** The phase between X and Y comes from the model, or is unknown: it is solved with everything else. */
async function prepareFull(plan: CalibrationPlan, settings: CalibrateSettings): Promise<Solve> {
  const calibrator = await prepareFullCalibrator(plan, settings.backend);
  return {
    push: async (integration, sky, everywhere) => {
      const model = fullModelVisibilities(sky);
      const diffuseI = everywhere && addDiffuse(model, sky, everywhere, 2);
      settings.onStep?.(0.5, 'the gains');
      const calibration = kept(plan, await calibrator.solve({ ...integration, model }));
      return { calibration, diffuseI };
    },
    close: () => calibrator.close(),
  };
}
