/**
 * What a telescope was pointed at, or followed, in a file that holds several: fields of Measurement Sets, sources of UVFITS
 * and FITS-IDI, phase centres of UVH5. Dishes hear another piece of sky for each; who images takes one.
 */
import { refuse } from '../../core/errors.js';

export interface Target {
  /** As the file numbers it. */
  readonly id: number;
  readonly name: string;
}

/** The word for all of them. */
const ALL = 'all';
const MOST_NAMED = 12;

const listed = (targets: readonly Target[]): string =>
  targets
    .slice(0, MOST_NAMED)
    .map(({ id, name }) => `${name} (${id})`)
    .join(', ') + (targets.length > MOST_NAMED ? ` and ${targets.length - MOST_NAMED} more` : '');

export interface ChosenTarget {
  /** Undefined: every row is read. */
  readonly only?: Target;
  /** Several that nobody chose among. */
  readonly several?: string;
}

/** `present`: those that have rows, in their order. Asked for by name, else by number. */
export function chooseTarget(
  path: string,
  present: readonly Target[],
  asked: string | undefined,
): ChosenTarget {
  if (asked === undefined) return present.length > 1 ? { several: listed(present) } : {};
  const word = asked.trim().toLowerCase();
  const named = present.filter(({ name }) => name.trim().toLowerCase() === word);
  if (named.length === 1) return { only: named[0] };
  if (named.length > 1)
    refuse(path, `has several targets named ${asked}: ${listed(named)}`, 'choose one by its number');
  if (word === ALL) return {};
  const numbered = /^\d+$/.test(word) ? present.find(({ id }) => id === Number(word)) : undefined;
  return numbered
    ? { only: numbered }
    : refuse(path, `holds no target '${asked}'`, `it holds ${listed(present)}`);
}

/** For people, where several are read together. */
export const severalTargetsLine = (several: string): string =>
  `it holds several targets, ${several}, and all of them are read; source.target takes one`;

/** Where they may not be mixed unasked. */
export function refuseSeveralTargets(file: { readonly path: string; readonly targets?: string }): void {
  if (file.targets === undefined) return;
  refuse(
    file.path,
    `holds several targets: ${file.targets}`,
    'choose one by name or number with source.target, or take them together with source.target: all, right where every antenna sees the whole sky',
  );
}
