/** Summary figures of all solutions of a file. */
import { unconverged, type Calibration, type CrossHanded } from '../../calibrate/index.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { median } from '../../core/median.js';
import type { OutlierChannel, OutlierGain, OutlierGains } from '../../stages/index.js';

/** One solution of a file, possibly one of several. */
interface Timed<Found extends Calibration = Calibration> {
  readonly time: Instant;
  readonly calibration: Found;
}

/** Its time, if there are several. */
const timeFact = (times: number, time: Instant): { readonly timeUtc?: string } =>
  times > 1 ? { timeUtc: formatInstant(time) } : {};

/** Solves that had data. */
export const withDataOf = ({ solutions }: Calibration) =>
  solutions.filter(({ residual }) => !Number.isNaN(residual));

/** Whether an input is solved in every channel that converged and is kept; undefined if there is none. */
function isSolvedIn({ solved, solutions }: Calibration, channels: number, a: number): boolean | undefined {
  const inputs = solved.length / channels;
  const own = solutions.filter(
    ({ polarisation, channel, converged, residual }) =>
      converged &&
      !Number.isNaN(residual) &&
      polarisation === a % (solutions.length / channels) &&
      solved.subarray(channel * inputs, (channel + 1) * inputs).includes(1),
  );
  return own.length === 0 ? undefined : own.every(({ channel }) => solved[channel * inputs + a] === 1);
}

/** An input counts as solved if it is solved at every time. */
export function summarise(all: readonly Timed[]) {
  const [{ calibration: first }] = all;
  const channels = new Set(first.solutions.map(({ channel }) => channel)).size;
  const inputs = first.solved.length / channels;
  const solutions = all.flatMap(({ calibration }) => calibration.solutions);
  const withData = all.flatMap(({ calibration }) => withDataOf(calibration));
  const solvedInputs = Array.from({ length: inputs }, (_, a) => a).filter((a) => {
    const known = all.map(({ calibration }) => isSolvedIn(calibration, channels, a));
    return known.includes(true) && !known.includes(false);
  }).length;
  const leftOut = new Map(
    withData.flatMap((solution) => solution.leftOut.map((out) => [out.station, out] as const)),
  );
  const open = solutions.filter((solution) => solution.leftOut.some(({ reason }) => reason === 'open'));
  return {
    solves: withData.length,
    solvesWithoutData: solutions.length - withData.length - open.length,
    solvesWithOpenGains: open.length,
    inputs,
    solvedInputs,
    referenceStation: first.referenceStation,
    converged: withData.filter(({ converged }) => converged).length,
    unconverged: all.flatMap(({ time, calibration }) =>
      unconverged(calibration).map(({ channel, polarisation, lastChange }) => ({
        channel,
        polarisation,
        lastChange,
        ...timeFact(all.length, time),
      })),
    ),
    medianIterations: median(withData.map(({ iterations }) => iterations)),
    medianResidual: median(withData.map(({ residual }) => residual)),
    worstResidual: withData.reduce((worst, { residual }) => Math.max(worst, residual), 0),
    leftOut: [...leftOut.values()],
  };
}

export type CalibrationSummary = ReturnType<typeof summarise>;

/** Outliers of all times, each with its time if there are several. */
export interface OutliersOverTime {
  readonly channels: readonly (OutlierChannel & { readonly timeUtc?: string })[];
  readonly gains: readonly (OutlierGain & { readonly timeUtc?: string })[];
}

export const outliersOverTime = (
  all: readonly { readonly time: Instant; readonly strange: OutlierGains }[],
): OutliersOverTime => ({
  channels: all.flatMap(({ time, strange }) =>
    strange.channels.map((one) => ({ ...one, ...timeFact(all.length, time) })),
  ),
  gains: all.flatMap(({ time, strange }) =>
    strange.gains.map((one) => ({ ...one, ...timeFact(all.length, time) })),
  ),
});

/** For full polarisation. */
export interface FullPolarisation {
  /** |d| over |g| for all times, and all solved inputs and channels. */
  readonly medianLeakage: number;
  readonly largestLeakage: number;
  /** Rotations of Q, U and V that the model leaves open, and its hold on the others: the worst channel. */
  readonly openRotations: number;
  readonly errorRad: number;
}

/** Undefined if one gain per input was solved. */
export function fullPolarisationOf(found: readonly CrossHanded[]): FullPolarisation | undefined {
  const frame = frameOf(found);
  const parts = leakagesOf(found);
  if (!frame || parts.length === 0) return undefined;
  return {
    medianLeakage: median(parts),
    largestLeakage: parts.reduce((a, b) => Math.max(a, b), 0),
    openRotations: frame.open,
    errorRad: frame.errorRad,
  };
}

/** |d| over |g| of all solved inputs and channels. */
export const leakagesOf = (found: readonly CrossHanded[]): number[] =>
  found.flatMap(({ gains, leakage, solved }) =>
    Array.from(solved.keys())
      .filter((at) => leakage && solved[at] === 1)
      .map((at) => {
        const own = Math.hypot(gains[2 * at], gains[2 * at + 1]);
        return leakage ? Math.hypot(leakage[2 * at], leakage[2 * at + 1]) / own : 0;
      }),
  );

/** For the solved channels; the worst of them at any time. */
export function frameOf(
  found: readonly CrossHanded[],
): { readonly open: number; readonly errorRad: number } | undefined {
  const used = found.flatMap(({ frame, solved }) => {
    if (!frame) return [];
    const inputs = solved.length / frame.openRotations.length;
    return Array.from(frame.openRotations, (open, c) => ({ open, errorRad: frame.errorRad[c], c })).filter(
      ({ c }) => solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
    );
  });
  if (!found.some(({ frame }) => frame)) return undefined;
  return {
    open: used.reduce((most, one) => Math.max(most, one.open), 0),
    errorRad: used.reduce((most, one) => Math.max(most, one.errorRad), 0),
  };
}
