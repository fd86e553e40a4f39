/** From integrations and a sky model to gains: of a single sum, or of one per interval. */
import type { Backend } from '../../backend/backend.js';
import type { CrossHanded } from '../../calibrate/index.js';
import type { Integration } from '../../core/blocks.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import type { OnProgress, OnStep } from '../../core/progress.js';
import type { VisibilityFile } from '../../formats/index.js';
import {
  chooseIntegration,
  frameAtMiddle,
  leaveOutOutliers,
  outlierGains,
  prepareCalibrate,
  SolutionSums,
  through,
  toOneReference,
  type ChosenIntegration,
  type FittedDelay,
  type ModelCheck,
  type OutlierGain,
  type OutlierGains,
  type OutlierInput,
  type SolutionSum,
} from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';
import { polarise } from '../../sky/polarise.js';
import { unpolarised } from '../../sky/source.js';
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
import type { GainsPlan } from './plan.js';
import { misfitOf, shape, type Shaped, type WorstMisfit } from './shape.js';
import {
  allSources,
  bestOf,
  isWhole,
  testInterval,
  outlierInputsOf,
  solveInterval,
  withoutData,
  worstOf,
  type TestedInterval,
  type Solver,
  type SolvedInterval,
} from './intervals.js';
import { besideUnpolarised, type BesideUnpolarised } from './unpolarised.js';
import {
  fullPolarisationOf,
  outliersOverTime,
  summarise,
  type CalibrationSummary,
  type FullPolarisation,
  type OutliersOverTime,
} from './summary.js';

/** One solution, as written. */
interface SolvedTime extends TestedInterval, Shaped {
  /** Channels and gains that are outliers, left out. */
  readonly strange: OutlierGains;
}

type Named<One> = One & { readonly name: string };

/** Gains and all facts about them. */
export interface SolvedGains {
  readonly plan: GainsPlan;
  /** The part of the file that was used, if `every` is not given. */
  readonly chosen: ChosenIntegration;
  /** Every time with data, in order; times that the model does not explain have no gains. */
  readonly times: readonly SolvedTime[];
  readonly timesWithoutData: number;
  /** The first time with gains. */
  readonly first: SolvedTime;
  /** Sources in the model at any time. */
  readonly sources: readonly SourceUp[];
  readonly reference: {
    readonly station: number;
    readonly by: 'one' | 'continued';
    /** Whether the reference station changed at some time. */
    readonly isChanged: boolean;
    /** The station whose X–Y angle was given. */
    readonly angleOf: number;
  };
  readonly summary: CalibrationSummary;
  /** The time that the model explains least; `unshaped` before `over` was applied. */
  readonly worst: { readonly check: ModelCheck; readonly unshaped: Worst };
  readonly outside: readonly OutsideAt[];
  readonly delays: readonly Named<FittedDelay>[];
  readonly misfit?: WorstMisfit;
  readonly outlierInputs: readonly Named<OutlierInput & { readonly times?: number }>[];
  readonly outlierChannels: OutliersOverTime['channels'];
  readonly outlierGains: readonly Named<OutlierGain & { readonly timeUtc?: string }>[];
  readonly fullPolarisation?: FullPolarisation;
  /** Of a polarised model and full polarisation, at the first time. */
  readonly beside?: BesideUnpolarised;
}

interface Worst {
  readonly check: ModelCheck;
  readonly time: Instant;
}

/** The backend, and callbacks. */
interface Solving {
  readonly backend: Backend;
  readonly onRead?: OnProgress;
  /** Called when all data of a solution have been read. */
  readonly onSolving?: () => void;
  readonly onStep?: OnStep;
  /** Called with the reason for an interval that cannot be solved and is left out; by default it is refused. */
  readonly onFailed?: (why: string) => void;
}

/** Solves the gains of a visibility file; writes nothing. */
export async function solvePlanned(
  file: VisibilityFile,
  plan: GainsPlan,
  solving: Solving,
): Promise<SolvedGains> {
  const solver = new GainsSolver(plan, solving);
  try {
    if (plan.integration !== 'sum') {
      await solver.add((await chooseIntegration(file, plan.integration, solving.onRead)).integration);
      await solver.end();
      const solved = solver.finish();
      return {
        ...solved,
        chosen: { ...solved.chosen, first: plan.integration, inFile: file.integrationCount },
      };
    }
    let done = 0;
    for await (const integration of file.integrations()) {
      done++;
      if (solver.count === 0) solving.onRead?.({ done, unit: 'integrations' });
      await solver.add(integration);
      if (solver.isOver) break;
    }
    if (done === 0) refuse(file.path, 'holds no integration', 'it is damaged or cut short: copy it again');
    await solver.end();
    const solved = solver.finish();
    return { ...solved, chosen: { ...solved.chosen, inFile: file.integrationCount } };
  } finally {
    await solver.close();
  }
}

/** A solution as soon as it is solved. */
export interface NewSolution {
  readonly solution: TestedInterval;
  /** As it would be written alone: with phases relative to its own reference. */
  readonly alone: () => SolvedTime;
  /** End of its interval. */
  readonly until: Instant;
}

/** Limit on the solutions that keep their data, however many solutions there are. */
const MOST_WHOLE = 16;

/** Receives integrations in order, solves each sum when it is complete, and makes gains from all of them at the end. */
export class GainsSolver {
  private readonly sums: SolutionSums;
  private solver: Solver | undefined;
  private chosen: SolutionSum | undefined;
  private readonly tested: TestedInterval[] = [];
  private beside: BesideUnpolarised | undefined;
  /** One solution in this many keeps its data. */
  private step = 1;

  constructor(
    private readonly plan: GainsPlan,
    private readonly solving: Solving,
  ) {
    const { telescope, header, asked } = plan;
    this.sums = new SolutionSums({ telescope, frequenciesHz: header.frequenciesHz }, asked.every);
  }

  /** Whether further integrations have no effect. */
  get isOver(): boolean {
    return this.sums.isOver;
  }

  /** Number of solutions. */
  get count(): number {
    return this.tested.length;
  }

  /** Its arrays may be reused afterwards. */
  add(integration: Integration): Promise<readonly NewSolution[]> {
    return this.solveAll(this.sums.add(integration));
  }

  /** At the end of the data: solves the last sum. */
  end(): Promise<readonly NewSolution[]> {
    return this.solveAll(this.sums.end());
  }

  /** Gains of all solutions so far. */
  finish(): SolvedGains {
    const { plan, chosen } = this;
    if (!chosen || this.tested.length === 0) refuse('gains', 'nothing was solved', 'use other data');
    const { integration, first, used } = chosen;
    return {
      ...gainsOf(plan, this.tested, {
        chosen: { integration, first, used, inFile: this.sums.seen },
        empty: this.sums.empty,
      }),
      beside: this.beside,
    };
  }

  async close(): Promise<void> {
    await this.solver?.close();
  }

  /** The search for other sources uses a few solutions over the observation; a shape over the band uses all. */
  private keep(solution: TestedInterval): void {
    const number = this.tested.push(solution) - 1;
    if (this.plan.asked.over !== 'channel') return;
    if (number % this.step !== 0) this.tested[number] = withoutData(solution);
    else if (number / this.step >= MOST_WHOLE) {
      this.step *= 2;
      for (const [k, one] of this.tested.entries())
        if (k % this.step !== 0 && isWhole(one)) this.tested[k] = withoutData(one);
    }
  }

  /** Solves once more without the polarisation of the model, where it has any. */
  private async solveUnpolarised(interval: SolvedInterval): Promise<BesideUnpolarised | undefined> {
    const { plan, solving } = this;
    const isPolarised = interval.sources.some(
      ({ source: { stokes } }) => stokes.q !== 0 || stokes.u !== 0 || stokes.v !== 0,
    );
    if (plan.asked.polarisation !== 'full' || !isPolarised) return undefined;
    const solver = await prepareSolver(plan, interval.integration, solving, 'unpolarised');
    try {
      return besideUnpolarised(interval, await through(solver, interval.integration));
    } finally {
      await solver.close();
    }
  }

  private async solveAll(sums: readonly SolutionSum[]): Promise<readonly NewSolution[]> {
    const { asked, header } = this.plan;
    const made: NewSolution[] = [];
    for (const sum of sums) {
      const { integration, until } = sum;
      this.chosen ??= sum;
      if (!this.solver) this.solving.onSolving?.();
      this.solver ??= await prepareSolver(this.plan, integration, this.solving);
      const interval = await solveInterval(this.solver, integration, asked.odd).catch((error: unknown) => {
        if (error instanceof CorellaError && this.solving.onFailed) {
          this.solving.onFailed(`${error.what} (from ${formatInstant(integration.start, 3)})`);
          return undefined;
        }
        if (!(error instanceof CorellaError) || asked.every === undefined) throw error;
        return refuse(`${error.where}, from ${formatInstant(integration.start)}`, error.what, error.fix);
      });
      if (!interval) continue;
      if (this.tested.length === 0) this.beside = await this.solveUnpolarised(interval);
      const solution = testInterval(interval, header.channelWidthHz, asked['accept-model']);
      this.keep(solution);
      made.push({ solution, alone: () => finished([solution], [solution.calibration], this.plan)[0], until });
    }
    return made;
  }
}

/** Solutions of all times relative to one reference, and all facts about them. */
function gainsOf(
  plan: GainsPlan,
  tested: readonly TestedInterval[],
  { chosen, empty }: { readonly chosen: ChosenIntegration; readonly empty: number },
): SolvedGains {
  const { asked, header, crossHand } = plan;
  refuseNoneConverged(tested, asked.iterations ?? asked['most-iterations']);
  const kept = tested.filter((one) => !one.isLeftOut);
  if (kept.length === 0) refuseWrongModel(bestOf(tested).check, tested.length, asked);
  const sources = allSources(kept);
  const found = kept.map(({ calibration }) => calibration);
  if (found[0].leakage) refuseOpenFrame(crossHand, found);
  else refuseNoCrossHand(crossHand, found, sources, header.feeds);
  const referred = toOneReference(tested.map(({ calibration }) => calibration));
  const times = finished(tested, referred.solutions, plan);
  const good = times.filter((one) => !one.isLeftOut);
  const misfit = misfitOf(asked.over, good, asked['accept-model'] ? 'accept' : 'refuse');
  const first = good.find((one) => one.calibration.solved.includes(1)) ?? good[0];
  const { referenceStation: station } = first.calibration;
  const worst = worstOf(good);
  return {
    plan,
    chosen,
    times,
    timesWithoutData: empty,
    first,
    sources,
    misfit,
    reference: {
      station,
      by: referred.by,
      angleOf: found[0].referenceStation,
      isChanged: found.some((one) => one.referenceStation !== station),
    },
    summary: summarise(good),
    // The misfit of `over` is reported separately and is not a fault of the model.
    worst: { check: worst.check, unshaped: misfit?.isWarned === true ? worstOf(kept) : worst },
    outside: outsideOf(good, plan.telescope, header.frequenciesHz),
    ...namedFacts(plan, first, good),
    fullPolarisation: fullPolarisationOf(good.map(({ calibration }) => calibration)),
  };
}

/** Facts by input, with input names. */
function namedFacts(plan: GainsPlan, first: SolvedTime, good: readonly SolvedTime[]) {
  const { polarisations } = first.integration;
  const named = <One extends { readonly input: number }>(some: readonly One[]): Named<One>[] =>
    some.map((one) => ({
      ...one,
      name: inputName(plan.telescope, one.input, polarisations, plan.header.feeds),
    }));
  const odd = outliersOverTime(good);
  return {
    delays: named(first.delays),
    outlierInputs: named(outlierInputsOf(good)),
    outlierChannels: odd.channels,
    outlierGains: named(odd.gains),
  };
}

/** The model describes the sky at the first sum: sources given by altitude and azimuth refer to that time. */
const prepareSolver = (
  { asked, header, telescope, ...plan }: GainsPlan,
  first: Integration,
  { backend, onStep }: Solving,
  model: 'as given' | 'unpolarised' = 'as given',
): Promise<Solver> =>
  prepareCalibrate({
    backend,
    telescope,
    onStep,
    frequenciesHz: header.frequenciesHz,
    polarisations: first.polarisations,
    feeds: header.feeds,
    sources: polarise(
      plan.sources(frameAtMiddle(telescope, first)),
      asked.polarise ?? [],
      'products.gains.polarise',
    ).map((source) => (model === 'unpolarised' ? { ...source, stokes: unpolarised } : source)),
    minimumAltitudeDeg: asked['min-altitude'],
    iterations: plan.iterations,
    referenceStation: plan.referenceStation,
    crossHand: ruleOf(plan.crossHand),
    polarisation: asked.polarisation,
    followed: header.phaseCentre,
    fringes: header.fringes,
    ...plan.model,
  });

/** Relative to one reference, without outlier gains, with the X–Y phase, and in the requested shape. */
function finished(
  tested: readonly TestedInterval[],
  referred: readonly CrossHanded[],
  { asked, header: { frequenciesHz, channelWidthHz }, afterwards }: GainsPlan,
): readonly SolvedTime[] {
  const clean = tested.map((one, k) => {
    const strange: OutlierGains =
      asked.odd === 0
        ? { channels: [], gains: [] }
        : outlierGains(referred[k], frequenciesHz.length, asked.odd);
    const left = leaveOutOutliers(referred[k], frequenciesHz.length, strange);
    return { ...one, strange, calibration: left.solved.includes(1) ? afterwards(left) : left };
  });
  for (const one of clean) if (!one.isLeftOut) refuseMixedOver(asked.over, one.calibration);
  return clean.map((one) => shape(asked.over, one, frequenciesHz, channelWidthHz));
}
