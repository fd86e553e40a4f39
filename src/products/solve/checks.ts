/** Refusals of what cannot be solved or written; each names the requested field. */
import { present } from '../../core/present.js';
import { isBelievable, type Calibration, type CrossHanded } from '../../calibrate/index.js';
import { refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import { twoDigits } from '../../core/units.js';
import type { ModelCheck, OverBand } from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';
import type { CrossHandChoice } from './cross-hand.js';
import { frameOf, withDataOf } from './summary.js';

/** Settings that full polarisation excludes, and data without it. */
export function checkFull(
  {
    polarisation,
    crossHand,
    over,
  }: {
    readonly polarisation: 'each' | 'full';
    readonly crossHand?: CrossHandChoice;
    readonly over: OverBand;
  },
  header: { readonly polarisations: 1 | 2; readonly feeds?: 'linear' | 'circular' },
): void {
  if (polarisation === 'each') return;
  const where = 'products.gains.polarisation: full';
  const leaveOut = 'leave products.gains.polarisation out';
  if (header.polarisations === 1) refuse(where, 'these data have one polarisation', leaveOut);
  if (header.feeds === 'circular')
    refuse(where, 'these data are of circular feeds, and the model is of X and Y', leaveOut);
  if (over !== 'channel')
    refuse(
      where,
      `solves each channel by itself, not products.gains.over: ${over}`,
      'leave products.gains.over out',
    );
  if (crossHand && crossHand.kind !== 'model')
    refuse(
      where,
      'finds the phase between X and Y with everything else, by the model alone',
      'leave products.gains.cross-hand out, and say how its sources are polarised with products.gains.polarise',
    );
}

export function findStation(text: string, stations: readonly { readonly name: string }[]): number {
  const byName = stations.findIndex(({ name }) => name === text);
  const station = byName >= 0 ? byName : Number(text);
  if (!Number.isSafeInteger(station) || station < 0 || station >= stations.length)
    refuse(
      'products.gains.reference',
      `'${text}' is no station here`,
      `give a name or a number from 0 to ${stations.length - 1}`,
    );
  return station;
}

/** If no solve converged, no file is written. */
export function refuseNoneConverged(
  all: readonly { readonly calibration: Calibration }[],
  most: number,
): void {
  const withData = all.flatMap(({ calibration }) => withDataOf(calibration));
  if (withData.some(({ converged }) => converged)) return;
  refuse(
    'calibrate',
    `none of ${withData.length} solve${withData.length === 1 ? '' : 's'} converged within ${most} iterations, so there are no gains to write`,
    'name the sources that were up (products.gains.sources), raise products.gains.most-iterations, or stop earlier with products.gains.tolerance',
  );
}

/** Gains from a wrong sky model are not written; `times` is the number of times tried, none of them better. */
export function refuseWrongModel(
  { unexplained }: ModelCheck,
  times: number,
  asked: { readonly 'min-baseline'?: unknown; readonly diffuse?: unknown },
): never {
  const diffuse = present(
    asked.diffuse === undefined && 'put the diffuse sky into the model (products.gains.diffuse: galaxy)',
    asked['min-baseline'] === undefined &&
      'leave out baselines that see it (products.gains.min-baseline: 5wl)',
  ).join(' or ');
  refuse(
    'calibrate',
    `the model explains ${(100 * (1 - unexplained)).toFixed(0)} % of the sky's power without noise${times > 1 ? `, at the best of ${times} times` : ''}: its gains would misplace the sky`,
    `name what was up (products.gains.sources), ${diffuse === '' ? '' : `${diffuse}, `}check the ` +
      "telescope's positions and the time; products.gains.accept-model writes them all the same",
  );
}

/** Requested but not available: nothing is written. */
export function refuseNoCrossHand(
  asked: CrossHandChoice | undefined,
  found: readonly CrossHanded[],
  sources: readonly SourceUp[],
  feeds: 'linear' | 'circular' = 'linear',
): void {
  const where = 'products.gains.cross-hand';
  if (asked?.kind !== 'model' && asked?.kind !== 'v-zero') return;
  if (found.some(({ crossHand }) => crossHand.how !== 'unknown')) return;
  const crossHandFit = found.flatMap(({ crossHandFit: fits = [] }) => fits);
  const isPolarised = sources.some(({ source: { stokes } }) =>
    [feeds === 'linear' ? stokes.v : stokes.q, stokes.u].some((part) => part !== 0),
  );
  if (asked.kind === 'model' && !isPolarised)
    refuse(
      where,
      `no source of the model is polarised${feeds === 'linear' ? '' : ' in Q or U'}`,
      'say how, like products.gains.polarise: TauA:0:0.02:0',
    );
  const best = crossHandFit.reduce((most, { significance }) => Math.max(most, significance), 0);
  const off = crossHandFit.some((fit) => !isBelievable(fit) && fit.significance >= 5);
  refuse(
    where,
    off
      ? `the cross hands are ${twoDigits(median(crossHandFit.map(({ overModel }) => overModel)))} times the model's`
      : `the cross hands show no polarised source: ${best.toFixed(1)} times their noise, where 5 is the least`,
    off
      ? 'correct products.gains.polarise'
      : 'use longer data, or the angle of an earlier observation by its gains file',
  );
}

/** The same for full polarisation. */
export function refuseOpenFrame(asked: CrossHandChoice | undefined, found: readonly CrossHanded[]): void {
  const frame = frameOf(found);
  if (frame && frame.open > 0 && asked?.kind === 'model')
    refuse(
      'products.gains.cross-hand',
      `the model leaves ${frame.open} rotation${frame.open === 1 ? '' : 's'} of Q, U and V open`,
      'give three sources of different polarisation (products.gains.polarise), or leave products.gains.cross-hand out',
    );
}

/** Gains of channels with known and with unknown X–Y phase cannot be combined. */
export function refuseMixedOver(over: OverBand, { crossHand, solved }: CrossHanded): void {
  const inputs = solved.length / crossHand.phaseRad.length;
  const isLacking = (phase: number, c: number): boolean =>
    Number.isNaN(phase) && solved.subarray(c * inputs, (c + 1) * inputs).includes(1);
  if (over !== 'channel' && crossHand.how !== 'unknown' && crossHand.phaseRad.some(isLacking))
    refuse(
      'products.gains.over',
      'the phase between X and Y is known in some channels alone, which cannot be joined',
      'leave it out, or give the phase as an angle or by an earlier gains file (products.gains.cross-hand)',
    );
}
