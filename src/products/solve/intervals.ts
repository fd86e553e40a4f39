/** Solutions of a single sum, or of one per interval: each is solved, cleaned and tested separately. */
import { leaveOutUnconverged, type CrossHanded } from '../../calibrate/index.js';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, type Instant } from '../../core/instant.js';
import {
  checkModel,
  MOST_UNEXPLAINED,
  type ModelCheck,
  outliersByGain,
  outliersByPower,
  type OutlierInput,
  through,
  type CalibratedIntegration,
  type Stage,
} from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';

export interface SolvedInterval extends CalibratedIntegration {
  /** The middle of its data. */
  readonly time: Instant;
  readonly odd: readonly OutlierInput[];
}

export interface TestedInterval extends SolvedInterval {
  readonly check: ModelCheck;
  /** The model explains too little of its sky: it has no gains. */
  readonly isLeftOut: boolean;
}

export type Solver = Stage<Integration, CalibratedIntegration>;

/** Solves an interval without outlier inputs (`odd`) and without what did not converge. */
export async function solveInterval(
  solver: Solver,
  asked: Integration,
  odd: number,
): Promise<SolvedInterval> {
  const outlierPowers = odd === 0 ? [] : outliersByPower(asked, odd);
  refuseAllOutliers(outlierPowers, asked, odd);
  const integration = without(asked, outlierPowers);
  const first = await through(solver, integration);
  const { channels, polarisations } = integration;
  const outlierGains = odd === 0 ? [] : outliersByGain(first.calibration, channels, polarisations, odd);
  const all = [...outlierPowers, ...outlierGains];
  refuseAllOutliers(all, asked, odd);
  // Solved again without them: noise accepted as signal has slightly biased the others.
  const best = outlierGains.length === 0 ? first : await through(solver, without(integration, outlierGains));
  return {
    ...best,
    calibration: leaveOutUnconverged(best.calibration),
    odd: all,
    time: addSeconds(asked.start, asked.durationS / 2),
  };
}

/** Each separately: gains for a sky that the model does not explain are not kept, unless accepted. */
export function testInterval(one: SolvedInterval, channelWidthHz: number, accept: boolean): TestedInterval {
  const check = checkModel(one.integration, one.calibration, one.plan, channelWidthHz);
  const isLeftOut = !accept && check.unexplained > MOST_UNEXPLAINED;
  return {
    ...one,
    check,
    isLeftOut,
    calibration: isLeftOut ? withoutGains(one.calibration) : one.calibration,
  };
}

const withoutGains = <Found extends CrossHanded>(found: Found): Found => {
  const none = <Values extends Float64Array>(values: Values): Values =>
    values.slice().fill(Number.NaN) as Values;
  return {
    ...found,
    gains: none(found.gains),
    ...(found.leakage && { leakage: none(found.leakage) }),
    solved: new Uint8Array(found.solved.length),
    crossHand: { ...found.crossHand, phaseRad: none(found.crossHand.phaseRad) },
  };
};

/** Whether it still has its visibilities. */
export const isWhole = ({ integration }: SolvedInterval): boolean => integration.visibilities.length > 0;

/** Without its visibilities: a long observation has too many to keep. */
export const withoutData = <One extends SolvedInterval>(one: One): One => ({
  ...one,
  residualsOf: undefined,
  integration: {
    ...one.integration,
    visibilities: visibilitiesCBPP(new Float64Array(), 0, 0, one.integration.polarisations),
    counts: countsCB(new Float64Array(), 0, 0),
    productCounts: undefined,
    passThrough: undefined,
  },
});

/** The solution that the model explains least; if that is unknown, the one with the largest residual. */
export function worstOf(tested: readonly TestedInterval[]): TestedInterval {
  const known = tested.filter(({ check }) => !Number.isNaN(check.unexplained));
  const by = ({ check }: TestedInterval): number => (known.length > 0 ? check.unexplained : check.left);
  return (known.length > 0 ? known : tested).reduce((worst, one) => (by(one) > by(worst) ? one : worst));
}

const without = (integration: Integration, odd: readonly OutlierInput[]): Integration => {
  const left = new Set(odd.map(({ input }) => input));
  return {
    ...integration,
    flaggedInputs: integration.flaggedInputs.map((flag, a) => (left.has(a) ? 1 : flag)),
  };
};

/** If hardly any input is left, the factor is too small for these data. */
function refuseAllOutliers(
  odd: readonly OutlierInput[],
  { flaggedInputs, polarisations }: Integration,
  factor: number,
): void {
  const left = new Set(odd.map(({ input }) => input));
  for (let p = 0; p < polarisations; p++) {
    const inputs = Array.from(flaggedInputs.keys()).filter(
      (a) => a % polarisations === p && flaggedInputs[a] === 0,
    );
    const kept = inputs.filter((a) => !left.has(a)).length;
    if (inputs.length >= 3 && kept < 3)
      refuse(
        'products.gains.odd',
        `${factor} leaves ${kept} of ${inputs.length} inputs of a polarisation, where gains take three`,
        'give a larger factor, or 0 to keep all inputs',
      );
  }
}

/** The solution that the model explains best. */
export const bestOf = (tested: readonly TestedInterval[]): TestedInterval =>
  tested.reduce((best, one) => (one.check.unexplained < best.check.unexplained ? one : best));

/** Sources in the model at any time, each as it first occurred. */
export const allSources = (intervals: readonly SolvedInterval[]): readonly SourceUp[] =>
  [
    ...new Map(
      intervals.flatMap(({ sources }) => sources.map((one) => [one.source.name, one] as const)).reverse(),
    ).values(),
  ].reverse();

/** Inputs left out at any time, each as it first occurred; with the number of times if there are several. */
export function outlierInputsOf(
  intervals: readonly SolvedInterval[],
): readonly (OutlierInput & { readonly times?: number })[] {
  const found = new Map<number, OutlierInput & { readonly times?: number }>();
  for (const { odd } of intervals)
    for (const one of odd) {
      const before = found.get(one.input);
      const times = (before?.times ?? 0) + 1;
      found.set(one.input, { ...(before ?? one), ...(intervals.length > 1 && { times }) });
    }
  return [...found.values()];
}
