/**
 * Whether pairs determine the stations' matrices at all. Along a tree of pairs every G follows from one of them, X;
 * each pair beyond the tree closes a loop and constrains X:
 *
 *   an odd loop     Xᴴ A X = B    A of the model around the loop, B of the data. With X also C X fits, C = A⁻ᴴ A: of a general
 *                                 model a phase and one number more stay open, of M = m·1 (A a number) a rotation U, which all
 *                                 stations share (common.ts)
 *   an even loop    X⁻¹ A X = B   leaves the size of X open at least
 *
 * Two loops, one of them odd, leave only the phase open. Three stations have one: their 24 numbers for 23 unknowns look
 * enough, but only 22 are independent. The fit of what all stations share does not detect it, so such data are refused.
 */
import { baselineIndex } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { groupsOf } from '../groups.js';
import type { ModelForm } from './plan.js';

export interface Loops {
  readonly stations: number;
  readonly pairs: number;
  /** Groups of stations without a pair between them. */
  readonly groups: number;
  /** Pairs beyond a tree, all groups together. */
  readonly loops: number;
  /** Whether one of them has an odd number of stations, in every group. */
  readonly isOdd: boolean;
}

/** For stations that have a pair, not counting autocorrelations. */
export function loopsOf(stations: number, isPair: (b: number) => boolean): Loops {
  const paired = new Set<number>();
  let pairs = 0;
  for (let i = 0; i < stations; i++)
    for (let j = 0; j < i; j++) {
      if (!isPair(baselineIndex(i, j))) continue;
      paired.add(i).add(j);
      pairs++;
    }
  const groups = groupsOf(
    [...paired].sort((a, b) => a - b),
    (i, j) => i !== j && isPair(i > j ? baselineIndex(i, j) : baselineIndex(j, i)),
  );
  return {
    stations: paired.size,
    pairs,
    groups: groups.length,
    loops: pairs - paired.size + groups.length,
    isOdd: groups.every(({ isOdd }) => isOdd),
  };
}

/** The error where pairs leave more open than what all stations share. */
export function undetermined(where: string, form: ModelForm, loops: Loops): (() => never) | undefined {
  const { stations, pairs, groups, isOdd } = loops;
  // For a model m·1 one odd loop suffices.
  const needed = form === 0 ? 1 : 2;
  if (groups === 1 && isOdd && loops.loops >= needed) return undefined;
  return () =>
    refuse(
      where,
      `${stations} stations with ${pairs} pairs leave their matrices open: others fit the same data as well`,
      form === 0
        ? 'keep three stations that all have pairs with each other (flag fewer, leave out fewer baselines), or solve without products.gains.polarisation: full'
        : 'keep four stations that all have pairs with each other (flag fewer, leave out fewer baselines), or solve without products.gains.polarisation: full',
    );
}
