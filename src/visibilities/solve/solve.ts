/** Visibilities and a model of the sky to gains: of one part of a file, or of times all over it. */
import type { Backend } from '../../backend/backend.js';
import type { CrossHanded } from '../../calibrate/index.js';
import type { Integration } from '../../core/blocks.js';
import type { Instant } from '../../core/instant.js';
import type { OnProgress, OnStep } from '../../core/progress.js';
import type { VisibilityFile } from '../../formats/index.js';
import {
  chooseIntegration,
  frameAtMiddle,
  leaveOutOddGains,
  oddGains,
  prepareCalibrate,
  toOneReference,
  type ChosenIntegration,
  type FittedDelay,
  type ModelCheck,
  type OddGain,
  type OddGains,
  type OddInput,
} from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';
import { polarise } from '../../sky/polarise.js';
import { inputName } from '../../telescope/telescope.js';
import {
  refuseMixedOver,
  refuseNoCrossHand,
  refuseNoneConverged,
  refuseOpenFrame,
  refuseWrongModel,
} from './checks.js';
import { ruleOf } from './cross-hand.js';
import { outsideOf, type OutsideAt } from './outside.js';
import { planGains, type GainSettings, type GainsPlan } from './plan.js';
import { misfitOf, shape, type Shaped, type WorstMisfit } from './shape.js';
import {
  allSources,
  bestOf,
  judge,
  oddInputsOf,
  solveEvery,
  solveStretch,
  worstOf,
  type JudgedStretch,
  type Stretch,
} from './stretches.js';
import {
  fullPolarisationOf,
  oddOfTimes,
  summarise,
  type CalibrationSummary,
  type FullPolarisation,
  type OddOfTimes,
} from './summary.js';

/** One solution, as it is written. */
export interface SolvedTime extends JudgedStretch, Shaped {
  /** Channels and gains that are unlike the others, and left out. */
  readonly strange: OddGains;
}

export type Named<One> = One & { readonly name: string };

/** Gains, and everything that is known of them. */
export interface SolvedGains {
  readonly plan: GainsPlan;
  /** The part of the file that was used, where `every` is not given. */
  readonly chosen: ChosenIntegration;
  /** Every time that has data, in order; those that the model does not explain have no gains. */
  readonly times: readonly SolvedTime[];
  readonly timesWithoutData: number;
  /** The first that has gains. */
  readonly first: SolvedTime;
  /** What was in the model at any time. */
  readonly sources: readonly SourceUp[];
  readonly reference: {
    readonly station: number;
    readonly by: 'one' | 'continued';
    /** Whether another station was the reference at some time. */
    readonly isChanged: boolean;
    /** The station whose X and Y have the angle that was given. */
    readonly angleOf: number;
  };
  readonly summary: CalibrationSummary;
  /** The time that the model explains least; `unshaped` before `over` was applied. */
  readonly worst: { readonly check: ModelCheck; readonly unshaped: Worst };
  readonly outside: readonly OutsideAt[];
  readonly delays: readonly Named<FittedDelay>[];
  readonly misfit?: WorstMisfit;
  readonly oddInputs: readonly Named<OddInput & { readonly times?: number }>[];
  readonly oddChannels: OddOfTimes['channels'];
  readonly oddGains: readonly Named<OddGain & { readonly timeUtc?: string }>[];
  readonly fullPolarisation?: FullPolarisation;
}

interface Worst {
  readonly check: ModelCheck;
  readonly time: Instant;
}

/** Where it is solved, and who watches. */
export interface Solving {
  readonly backend: Backend;
  readonly onRead?: OnProgress;
  /** All is read that one solution takes. */
  readonly onSolving?: () => void;
  readonly onStep?: OnStep;
}

/** Solves the gains of a file of visibilities; nothing is written. */
export const solveGains = async (
  file: VisibilityFile,
  settings: GainSettings & Solving,
): Promise<SolvedGains> => solvePlanned(file, await planGains(file, settings), settings);

export async function solvePlanned(
  file: VisibilityFile,
  plan: GainsPlan,
  solving: Solving,
): Promise<SolvedGains> {
  const { asked, header, crossHand } = plan;
  const chosen = await chooseIntegration(file, plan.integration, solving.onRead);
  solving.onSolving?.();
  const { stretches, empty } = await solveAll(file, plan, chosen.integration, solving);
  refuseNoneConverged(stretches, asked.iterations ?? asked['most-iterations']);
  const judged = judge(stretches, header.channelWidthHz, asked['accept-model']);
  const kept = judged.filter((one) => !one.isLeftOut);
  if (kept.length === 0) refuseWrongModel(bestOf(judged).check, judged.length, asked);
  const sources = allSources(kept);
  const found = kept.map(({ calibration }) => calibration);
  if (found[0].leakage) refuseOpenFrame(crossHand, found);
  else refuseNoCrossHand(crossHand, found, sources, header.feeds);
  const referred = toOneReference(judged.map(({ calibration }) => calibration));
  const times = finished(judged, referred.solutions, plan);
  const good = times.filter((one) => !one.isLeftOut);
  const misfit = misfitOf(asked.over, good, asked['accept-model'] ? 'accept' : 'refuse');
  const first = good.find((one) => one.calibration.solved.includes(1)) ?? good[0];
  const { referenceStation: station } = first.calibration;
  const worst = worstOf(good);
  return {
    ...{ plan, chosen, times, timesWithoutData: empty, first, sources, misfit },
    reference: {
      ...{ station, by: referred.by, angleOf: found[0].referenceStation },
      isChanged: found.some((one) => one.referenceStation !== station),
    },
    summary: summarise(good),
    // What `over` leaves is reported by itself, and is no fault of the model.
    worst: { check: worst.check, unshaped: misfit?.isWarned === true ? worstOf(kept) : worst },
    outside: outsideOf(good, plan.telescope, header.frequenciesHz),
    ...namedFacts(plan, first, good),
    fullPolarisation: fullPolarisationOf(good.map(({ calibration }) => calibration)),
  };
}

/** What is known by inputs, with their names. */
function namedFacts(plan: GainsPlan, first: SolvedTime, good: readonly SolvedTime[]) {
  const { polarisations } = first.integration;
  const named = <One extends { readonly input: number }>(some: readonly One[]): Named<One>[] =>
    some.map((one) => ({
      ...one,
      name: inputName(plan.telescope, one.input, polarisations, plan.header.feeds),
    }));
  const odd = oddOfTimes(good);
  return {
    delays: named(first.delays),
    oddInputs: named(oddInputsOf(good)),
    oddChannels: odd.channels,
    oddGains: named(odd.gains),
  };
}

async function solveAll(
  file: VisibilityFile,
  plan: GainsPlan,
  chosen: Integration,
  { backend, onStep }: Solving,
): Promise<{ readonly stretches: readonly Stretch[]; readonly empty: number }> {
  const { asked, header, telescope } = plan;
  const solver = await prepareCalibrate({
    ...{ backend, telescope, onStep },
    ...{ frequenciesHz: header.frequenciesHz, polarisations: chosen.polarisations, feeds: header.feeds },
    sources: polarise(
      plan.sources(frameAtMiddle(telescope, chosen)),
      asked.polarise ?? [],
      'products.gains.polarise',
    ),
    minimumAltitudeDeg: asked['min-altitude'],
    iterations: plan.iterations,
    referenceStation: plan.referenceStation,
    crossHand: ruleOf(plan.crossHand),
    polarisation: asked.polarisation,
    followed: header.phaseCentre,
    ...plan.model,
  });
  try {
    return asked.every === undefined
      ? { stretches: [await solveStretch(solver, chosen, asked.odd)], empty: 0 }
      : await solveEvery(solver, file, asked.every, asked.odd);
  } finally {
    await solver.close();
  }
}

/** By one reference, without odd gains, with the phase between X and Y, and in the shape that was asked for. */
function finished(
  judged: readonly JudgedStretch[],
  referred: readonly CrossHanded[],
  { asked, header: { frequenciesHz, channelWidthHz }, afterwards }: GainsPlan,
): readonly SolvedTime[] {
  const clean = judged.map((one, k) => {
    const strange: OddGains =
      asked.odd === 0 ? { channels: [], gains: [] } : oddGains(referred[k], frequenciesHz.length, asked.odd);
    const left = leaveOutOddGains(referred[k], frequenciesHz.length, strange);
    return { ...one, strange, calibration: left.solved.includes(1) ? afterwards(left) : left };
  });
  for (const one of clean) if (!one.isLeftOut) refuseMixedOver(asked.over, one.calibration);
  return clean.map((one) => shape(asked.over, one, frequenciesHz, channelWidthHz));
}
