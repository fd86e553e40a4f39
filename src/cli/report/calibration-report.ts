/** What calibrate says of what it found. */
import { unconverged, type Calibration } from '../../calibrate/index.js';
import { refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import { formatHz } from '../../core/units.js';
import type { OddChannel } from '../../pipeline/gains/odd-channels.js';

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

/** One line's worth of a calibration. An input counts as solved when it is in every channel that converged. */
export function summarise(calibration: Calibration) {
  const { solved, solutions, referenceStation } = calibration;
  const channels = new Set(solutions.map(({ channel }) => channel)).size;
  const inputs = solved.length / channels;
  const withData = solutions.filter(({ residual }) => !Number.isNaN(residual));
  const good = withData.filter(({ converged }) => converged);
  const polarisations = solutions.length / channels;
  const solvedInputs = Array.from({ length: inputs }, (_, a) => a).filter((a) => {
    const own = good.filter(({ polarisation }) => polarisation === a % polarisations);
    return own.length > 0 && own.every(({ channel }) => solved[channel * inputs + a] === 1);
  }).length;
  const leftOut = new Map(
    withData.flatMap((solution) => solution.leftOut.map((out) => [out.station, out] as const)),
  );
  return {
    solves: withData.length,
    solvesWithoutData: solutions.length - withData.length,
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
  odd: readonly OddChannel[],
  frequenciesHz: Float64Array,
): string[] {
  return [
    `converged ${summary.converged} of ${summary.solves}, ${summary.medianIterations} iterations in the middle, ` +
      `residual ${(100 * summary.medianResidual).toFixed(1)} % in the middle, ${(100 * summary.worstResidual).toFixed(1)} % at worst`,
    ...odd
      .slice(0, MOST_CHANNELS)
      .map(
        ({ channel, level }) =>
          `odd: the gains of channel ${channel} (${formatHz(frequenciesHz[channel])}) are ${level.toPrecision(2)} times the middle channel's`,
      ),
    ...(odd.length > MOST_CHANNELS
      ? [`odd: ${odd.length - MOST_CHANNELS} more channels; --json lists all`]
      : []),
    ...(summary.medianResidual > LITTLE_EXPLAINED
      ? [
          'the model explains next to nothing of the data: either they are mostly noise, or another sky was up; look at an image before you trust these gains',
        ]
      : []),
  ];
}
