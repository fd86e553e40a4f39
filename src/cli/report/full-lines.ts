/** What calibrate says of full polarisation: how much leaks, and what the model holds. */
import type { CrossHanded } from '../../calibrate/index.js';
import { refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { CrossHandChoice } from '../options/cross-hand-option.js';

/** Middle and largest |d| over |g| of all times, inputs and channels that are solved. */
function leakageOf(found: readonly CrossHanded[]): { middle: number; largest: number } | undefined {
  const parts = found.flatMap(({ gains, leakage, solved }) =>
    Array.from(solved.keys())
      .filter((at) => leakage && solved[at] === 1)
      .map((at) => {
        const own = Math.hypot(gains[2 * at], gains[2 * at + 1]);
        return leakage ? Math.hypot(leakage[2 * at], leakage[2 * at + 1]) / own : 0;
      }),
  );
  return parts.length === 0
    ? undefined
    : { middle: median(parts), largest: parts.reduce((a, b) => Math.max(a, b), 0) };
}

/** Of the channels that are solved; the worst of them at any time. */
function frameOf(found: readonly CrossHanded[]): { open: number; errorRad: number } | undefined {
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

export function fullFacts(found: readonly CrossHanded[]) {
  const [leakage, frame] = [leakageOf(found), frameOf(found)];
  return leakage && frame
    ? {
        fullPolarisation: {
          ...{ medianLeakage: leakage.middle, largestLeakage: leakage.largest },
          ...{ openRotations: frame.open, errorDeg: frame.errorRad * DEGREES_PER_RADIAN },
        },
      }
    : {};
}

/** Of the other polarisation: no feed that works receives so much. */
const MOST_LEAKAGE = 0.5;

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;

export function fullLines(found: readonly CrossHanded[]): string[] {
  const [leakage, frame] = [leakageOf(found), frameOf(found)];
  if (!leakage || !frame) return [];
  return [
    `leakage ${percent(leakage.middle)} in the middle, ${percent(leakage.largest)} at most`,
    ...(leakage.largest > MOST_LEAKAGE
      ? [
          `warning: leakage above ${percent(MOST_LEAKAGE)} is no antenna's: the model's polarisation has wrong signs, its feeds are held in another way (--feeds), or X and Y are swapped`,
        ]
      : []),
    frame.open === 0
      ? `I, Q, U and V are held by the model, their rotation to ${(frame.errorRad * DEGREES_PER_RADIAN).toPrecision(2)}°`
      : `the model leaves ${frame.open === 1 ? 'one rotation' : `${frame.open} rotations`} of Q, U and V open: images hold I alone. ` +
        'Leakage is by convention the least; three sources of different polarisation would hold it (--polarise)',
  ];
}

/** Asked for and not to be had: nothing is written. */
export function refuseOpenFrame(asked: CrossHandChoice | undefined, found: readonly CrossHanded[]): void {
  const frame = frameOf(found);
  if (frame && frame.open > 0 && asked?.kind === 'model')
    refuse(
      '--cross-hand',
      `the model leaves ${frame.open} rotation${frame.open === 1 ? '' : 's'} of Q, U and V open`,
      'give three sources of different polarisation (--polarise), or leave --cross-hand out',
    );
}
