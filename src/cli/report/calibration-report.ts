/** What calibrate says of what it found. */
import {
  isBelievable,
  unconverged,
  type Calibration,
  type CrossHanded,
  type LeftOutReason,
} from '../../calibrate/index.js';
import { refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import { DEGREES_PER_RADIAN, formatHz, withMinus } from '../../core/units.js';
import type { OddGains } from '../../pipeline/gains/odd-channels.js';
import type { SourceUp } from '../../sky/above.js';
import type { CrossHandChoice } from '../options/cross-hand-option.js';

/** A residual above this: gains still come out, and may mean nothing. */
const LITTLE_EXPLAINED = 0.9;

/** A station half dead is told in a screenful. */
export const MOST_LINES = 20;
const MOST_CHANNELS = 6;

const s = (count: number): string => (count === 1 ? '' : 's');

/** Gains of no solve at all are not worth a file. */
export function refuseNoneConverged(calibration: Calibration, most: number): void {
  const withData = calibration.solutions.filter(({ residual }) => !Number.isNaN(residual));
  if (withData.some(({ converged }) => converged)) return;
  refuse(
    'calibrate',
    `none of ${withData.length} solve${s(withData.length)} converged within ${most} iterations, so there are no gains to write`,
    'name the sources that were up (--sources), raise --most-iterations, or stop earlier with --tolerance',
  );
}

/** One line's worth of a calibration. An input counts as solved when it is in every channel that converged and is kept. */
export function summarise(calibration: Calibration) {
  const { solved, solutions, referenceStation } = calibration;
  const channels = new Set(solutions.map(({ channel }) => channel)).size;
  const inputs = solved.length / channels;
  const withData = solutions.filter(({ residual }) => !Number.isNaN(residual));
  const good = withData.filter(({ converged }) => converged);
  const polarisations = solutions.length / channels;
  const solvedInputs = Array.from({ length: inputs }, (_, a) => a).filter((a) => {
    const own = good.filter(
      ({ polarisation, channel }) =>
        polarisation === a % polarisations &&
        solved.subarray(channel * inputs, (channel + 1) * inputs).includes(1),
    );
    return own.length > 0 && own.every(({ channel }) => solved[channel * inputs + a] === 1);
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
    referenceStation,
    converged: good.length,
    unconverged: unconverged(calibration).map(({ channel, polarisation, lastChange }) => ({
      channel,
      polarisation,
      lastChange,
    })),
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

/** What has no gains because it was given up, for the exit code's line; undefined where all went well. */
export function unconvergedLine(
  { unconverged: given, solves }: CalibrationSummary,
  frequenciesHz: Float64Array,
): string | undefined {
  if (given.length === 0) return undefined;
  const channels = [...new Set(given.map(({ channel }) => channel))];
  return (
    `${given.length} of ${solves} solves did not converge and have no gains: channel${s(channels.length)} ` +
    `${channelList(channels, frequenciesHz)}; raise --most-iterations, or look at them with inspect`
  );
}

export function convergenceLines(
  summary: CalibrationSummary,
  odd: OddGains,
  frequenciesHz: Float64Array,
): string[] {
  return [
    `converged ${summary.converged} of ${summary.solves}, ${summary.medianIterations} iterations in the middle, ` +
      `residual ${(100 * summary.medianResidual).toFixed(1)} % in the middle, ${(100 * summary.worstResidual).toFixed(1)} % at worst`,
    ...odd.channels
      .slice(0, MOST_CHANNELS)
      .map(
        ({ channel, level, by }) =>
          `left out: channel ${channel} (${formatHz(frequenciesHz[channel])}), ` +
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
  { crossHand, crossHandFit = [] }: CrossHanded,
  sources: readonly SourceUp[],
): void {
  if (crossHand.how !== 'unknown' || (asked?.kind !== 'model' && asked?.kind !== 'v-zero')) return;
  const isPolarised = sources.some(({ source: { stokes } }) => stokes.u !== 0 || stokes.v !== 0);
  if (asked.kind === 'model' && !isPolarised)
    refuse('--cross-hand', 'no source of the model is polarised', 'say how, like --polarise TauA:0:0.02:0');
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

/** Whether X and Y have one phase, and by whom. */
export function crossHandLines(
  { crossHand, solved }: CrossHanded,
  feeds: 'linear' | 'circular' = 'linear',
): string[] {
  const { how, phaseRad } = crossHand;
  const [first, second, mixed] = feeds === 'linear' ? ['X', 'Y', 'U and V'] : ['R', 'L', 'Q and U'];
  const inputs = solved.length / phaseRad.length;
  const used = Array.from(phaseRad).filter((_, c) =>
    solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
  );
  const found = used.filter((phase) => !Number.isNaN(phase));
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
        ? `, in ${found.length} of ${used.length} channels: the cross hands of the others are too weak, so images leave ${mixed} out`
        : ''),
  ];
}
