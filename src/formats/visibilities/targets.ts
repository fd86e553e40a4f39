/**
 * The targets of a file with several: fields of Measurement Sets, sources of UVFITS and FITS-IDI, phase centres of
 * UVH5. Dishes observe a different part of the sky for each, so an image uses one.
 */
import { refuse } from '../../core/errors.js';

export interface Target {
  /** The number in the file. */
  readonly id: number;
  readonly name: string;
}

/** The name that selects all of them. */
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
  /** Several, none selected. */
  readonly several?: string;
}

/** `present`: targets with rows, in file order. Selected by name, else by number. */
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

/** The display line when several are read together. */
export const severalTargetsLine = (several: string): string =>
  `it holds several targets, ${several}, and all of them are read; source.target takes one`;

/** For uses where they must not be mixed by default. */
export function refuseSeveralTargets(file: { readonly path: string; readonly targets?: string }): void {
  if (file.targets === undefined) return;
  refuse(
    file.path,
    `holds several targets: ${file.targets}`,
    'choose one by name or number with source.target, or take them together with source.target: all, right where every antenna sees the whole sky',
  );
}
