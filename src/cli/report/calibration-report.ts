/** What calibrate says of what it found. */
import {
  isBelievable,
  unconverged,
  type Calibration,
  type CrossHanded,
  type LeftOutReason,
} from '../../calibrate/index.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { median } from '../../core/median.js';
import { DEGREES_PER_RADIAN, formatHz, withMinus } from '../../core/units.js';
import type { ModelCheck, OddChannel, OddGain, OddGains } from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';
import type { CrossHandChoice } from '../options/cross-hand-option.js';

/** A residual above this: gains still come out, and may mean nothing. */
const LITTLE_EXPLAINED = 0.9;

/** A station half dead is told in a screenful. */
export const MOST_LINES = 20;
const MOST_CHANNELS = 6;

const s = (count: number): string => (count === 1 ? '' : 's');

/** One solution of a file, or of several. */
export interface Timed<Found extends Calibration = Calibration> {
  readonly time: Instant;
  readonly calibration: Found;
}

/** What is told of one of several says when it was. */
const timeFact = (times: number, time: Instant): { readonly timeUtc?: string } =>
  times > 1 ? { timeUtc: formatInstant(time) } : {};

const withDataOf = ({ solutions }: Calibration) =>
  solutions.filter(({ residual }) => !Number.isNaN(residual));

/** Gains of no solve at all are not worth a file. */
export function refuseNoneConverged(all: readonly Timed[], most: number): void {
  const withData = all.flatMap(({ calibration }) => withDataOf(calibration));
  if (withData.some(({ converged }) => converged)) return;
  refuse(
    'calibrate',
    `none of ${withData.length} solve${s(withData.length)} converged within ${most} iterations, so there are no gains to write`,
    'name the sources that were up (--sources), raise --most-iterations, or stop earlier with --tolerance',
  );
}

/** Whether an input is solved in every channel that converged and is kept; nobody's where none is. */
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

/** One line's worth of all solutions. An input counts as solved when it is at every time. */
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
        ...{ channel, polarisation, lastChange, ...timeFact(all.length, time) },
      })),
    ),
    medianIterations: median(withData.map(({ iterations }) => iterations)),
    medianResidual: median(withData.map(({ residual }) => residual)),
    worstResidual: withData.reduce((worst, { residual }) => Math.max(worst, residual), 0),
    leftOut: [...leftOut.values()],
  };
}

export type CalibrationSummary = ReturnType<typeof summarise>;

/** Of solves that have no gains though others do. */
export const unsolvedLines = ({ solvesWithoutData, solvesWithOpenGains }: CalibrationSummary): string[] => [
  ...(solvesWithoutData > 0
    ? [
        `${solvesWithoutData} more have no gains: all of a channel or a feed is flagged or missing, but for two stations at the most`,
      ]
    : []),
  ...(solvesWithOpenGains > 0
    ? [
        `${solvesWithOpenGains} more have no gains: the pairs they have leave them open, and others would fit as well`,
      ]
    : []),
];

/** Why a station has no gain, for people. */
export const reasonText = (reason: LeftOutReason): string =>
  reason === 'apart' ? 'apart: no baseline leads to the others' : reason;

/** "3, 4, 5 (57.2 MHz …)": the channels, and where the first lies. */
function channelList(channels: readonly number[], frequenciesHz: Float64Array): string {
  const some = channels.slice(0, MOST_CHANNELS).join(', ');
  const more = channels.length > MOST_CHANNELS ? ` and ${channels.length - MOST_CHANNELS} more` : '';
  return `${some}${more} (${channels.length === 1 ? 'at' : 'from'} ${formatHz(frequenciesHz[channels[0]])})`;
}

/** The first of them, and how many more. */
const timeList = (times: readonly string[]): string =>
  times.length < 4 ? times.join(', ') : `${times.slice(0, 3).join(', ')} and ${times.length - 3} more times`;

/** Times that have no gains because the model does not explain their sky, for the exit code's line. */
export function leftOutLine(
  left: readonly { readonly time: Instant; readonly check: ModelCheck }[],
  of: number,
): string | undefined {
  if (left.length === 0) return undefined;
  const most = Math.max(...left.map(({ check }) => 1 - check.unexplained));
  return (
    `${left.length} of ${of} times have no gains: the model explains ${(100 * most).toFixed(0)} % of the sky's power there` +
    `${left.length > 1 ? ' at most' : ''}, at ${timeList(left.map(({ time }) => formatInstant(time)))}; ` +
    'what else was up then? --accept-model writes them all the same'
  );
}

/** What has no gains because it was given up, for the exit code's line; undefined where all went well. */
export function unconvergedLine(
  { unconverged: given, solves }: CalibrationSummary,
  frequenciesHz: Float64Array,
): string | undefined {
  if (given.length === 0) return undefined;
  const channels = [...new Set(given.map(({ channel }) => channel))];
  const times = [...new Set(given.flatMap(({ timeUtc }) => timeUtc ?? []))];
  return (
    `${given.length} of ${solves} solves did not converge and have no gains: channel${s(channels.length)} ` +
    `${channelList(channels, frequenciesHz)}${times.length > 0 ? ` at ${timeList(times)}` : ''}; raise --most-iterations, or look at them with inspect`
  );
}

/** Of all times, each with its own where there are several. */
export interface OddOfTimes {
  readonly channels: readonly (OddChannel & { readonly timeUtc?: string })[];
  readonly gains: readonly (OddGain & { readonly timeUtc?: string })[];
}

export const oddOfTimes = (
  all: readonly { readonly time: Instant; readonly strange: OddGains }[],
): OddOfTimes => ({
  channels: all.flatMap(({ time, strange }) =>
    strange.channels.map((one) => ({ ...one, ...timeFact(all.length, time) })),
  ),
  gains: all.flatMap(({ time, strange }) =>
    strange.gains.map((one) => ({ ...one, ...timeFact(all.length, time) })),
  ),
});

export function convergenceLines(
  summary: CalibrationSummary,
  odd: OddOfTimes,
  frequenciesHz: Float64Array,
): string[] {
  return [
    `converged ${summary.converged} of ${summary.solves}, ${summary.medianIterations} iterations in the middle, ` +
      `residual ${(100 * summary.medianResidual).toFixed(1)} % in the middle, ${(100 * summary.worstResidual).toFixed(1)} % at worst`,
    ...odd.channels
      .slice(0, MOST_CHANNELS)
      .map(
        ({ channel, level, by, timeUtc }) =>
          `left out: channel ${channel} (${formatHz(frequenciesHz[channel])}${timeUtc === undefined ? '' : ` at ${timeUtc}`}), ` +
          (by === 'gain'
            ? `whose gains are ${level.toPrecision(2)} times the middle channel's`
            : `of which the model explains ${level.toPrecision(2)} times what it does of the middle channel`),
      ),
    ...(odd.channels.length > MOST_CHANNELS
      ? [`left out: ${odd.channels.length - MOST_CHANNELS} more channels; --json lists all`]
      : []),
    ...(odd.gains.length > 0
      ? [
          `left out: ${odd.gains.length} more gain${s(odd.gains.length)} unlike those of the same input in other channels; --json lists all`,
        ]
      : []),
    ...(summary.medianResidual > LITTLE_EXPLAINED
      ? [
          'the model explains next to nothing of the data: either they are mostly noise, or another sky was up; look at an image before you trust these gains',
        ]
      : []),
  ];
}

/** Asked for and not to be had: nothing is written. */
export function refuseNoCrossHand(
  asked: CrossHandChoice | undefined,
  found: readonly CrossHanded[],
  sources: readonly SourceUp[],
  feeds: 'linear' | 'circular' = 'linear',
): void {
  if (asked?.kind !== 'model' && asked?.kind !== 'v-zero') return;
  if (found.some(({ crossHand }) => crossHand.how !== 'unknown')) return;
  const crossHandFit = found.flatMap(({ crossHandFit: fits = [] }) => fits);
  const isPolarised = sources.some(({ source: { stokes } }) =>
    [feeds === 'linear' ? stokes.v : stokes.q, stokes.u].some((part) => part !== 0),
  );
  if (asked.kind === 'model' && !isPolarised)
    refuse(
      '--cross-hand',
      `no source of the model is polarised${feeds === 'linear' ? '' : ' in Q or U'}`,
      'say how, like --polarise TauA:0:0.02:0',
    );
  const best = crossHandFit.reduce((most, { significance }) => Math.max(most, significance), 0);
  const off = crossHandFit.some((fit) => !isBelievable(fit) && fit.significance >= 5);
  refuse(
    '--cross-hand',
    off
      ? `the cross hands are ${median(crossHandFit.map(({ overModel }) => overModel)).toPrecision(2)} times what the model says`
      : `the cross hands show no polarised source: ${best.toFixed(1)} times their noise, where 5 is the least`,
    off ? 'correct --polarise' : 'take longer data, or the angle of an earlier night by its gains file',
  );
}

/** Whether X and Y have one phase, and by whom; of all times, their channels together. */
export function crossHandLines(
  all: readonly CrossHanded[],
  feeds: 'linear' | 'circular' = 'linear',
): string[] {
  const [first, second, mixed] = feeds === 'linear' ? ['X', 'Y', 'U and V'] : ['R', 'L', 'Q and U'];
  const used = all.flatMap(({ crossHand, solved }) => {
    const inputs = solved.length / crossHand.phaseRad.length;
    return Array.from(crossHand.phaseRad).filter((_, c) =>
      solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
    );
  });
  const found = used.filter((phase) => !Number.isNaN(phase));
  const how = all.find(({ crossHand }) => crossHand.how !== 'unknown')?.crossHand.how ?? 'unknown';
  if (found.length === 0)
    return [
      `the phase between ${first} and ${second} is unknown: images leave ${mixed} out; --cross-hand says how to know it`,
    ];
  const words = {
    unknown: '',
    model: 'by the model',
    'v-zero': 'taking V as zero',
    given: 'as given',
    earlier: 'as the earlier gains have it',
  }[how];
  const middle = withMinus((found[Math.floor(found.length / 2)] * DEGREES_PER_RADIAN).toFixed(1));
  return [
    `the phase between ${first} and ${second}: ${middle}° in the middle, ${words}` +
      (found.length < used.length
        ? `, in ${found.length} of ${used.length} channels${all.length > 1 ? ' and times' : ''}: the cross hands of the others are too weak, so images leave ${mixed} out`
        : ''),
  ];
}
