/** The X–Y phase reference: the values of `cross-hand`, and earlier gains that have it. */
import {
  crossHandFrom,
  withKnownCrossHand,
  type CrossHanded,
  type CrossHandRule,
} from '../../calibrate/index.js';
import { refuse } from '../../core/errors.js';
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import { readGainFile } from '../../formats/index.js';
import { crossHandsKnown, matchGains, refuseLeakage } from '../../stages/index.js';
import type { Telescope } from '../../telescope/telescope.js';

export type CrossHandChoice = CrossHandRule | { readonly kind: 'file'; readonly path: string };

const FORMS =
  'write model, v-zero:u-positive, v-zero:u-negative, an angle like 42deg, or the name of a gains file';

export function parseCrossHand(text: string): CrossHandChoice {
  const field = 'products.gains.cross-hand';
  const word = text.trim();
  if (word === 'model') return { kind: 'model' };
  const angle = /^([+-]?\d+(?:\.\d*)?)\s*(?:deg|°)$/.exec(word);
  if (angle) return { kind: 'given', phaseRad: Number(angle[1]) * RADIANS_PER_DEGREE };
  const zero = /^v-zero:u-(positive|negative)$/.exec(word);
  if (zero) return { kind: 'v-zero', u: zero[1] === 'positive' ? 'positive' : 'negative' };
  if (word.startsWith('v-zero'))
    refuse(
      field,
      'V = 0 alone leaves the sign of U and V open',
      'write v-zero:u-positive or v-zero:u-negative',
    );
  if (/\.(json|calh5)$/i.test(word)) return { kind: 'file', path: word };
  return refuse(field, `'${text}' is not understood`, FORMS);
}

/** The inputs' X–Y phases must be stable: the mean of their unit vectors, 1 if all agree. */
const LEAST_AGREEMENT = 0.9;

/** For the solver; the angle from earlier gains is applied afterwards. */
export const ruleOf = (choice: CrossHandChoice | undefined): CrossHandRule =>
  choice === undefined ? { kind: 'model' } : choice.kind === 'file' ? { kind: 'unknown' } : choice;

/** Applied to a finished solution: nothing, or the angle from earlier gains. */
export async function crossHandAfter(
  choice: CrossHandChoice | undefined,
  telescope: Telescope,
  frequenciesHz: Float64Array,
): Promise<(found: CrossHanded) => CrossHanded> {
  if (choice?.kind !== 'file') return (found) => found;
  const earlier = matchGains(await readGainFile(choice.path), choice.path, telescope, frequenciesHz);
  refuseLeakage(earlier, choice.path, 'products.gains.cross-hand');
  if (!crossHandsKnown(earlier))
    refuse(
      choice.path,
      'does not know the phase between X and Y itself',
      'give gains that were solved with products.gains.cross-hand',
    );
  return (found) => {
    const { phaseRad, agreement } = crossHandFrom(found, earlier, frequenciesHz.length);
    if (agreement < LEAST_AGREEMENT)
      refuse(
        choice.path,
        `its phases between X and Y are not those of these data: ${(100 * agreement).toFixed(0)} % of them agree`,
        'they have changed since: find the phase anew, with a polarised source',
      );
    return withKnownCrossHand(found, { how: 'earlier', phaseRad });
  };
}
