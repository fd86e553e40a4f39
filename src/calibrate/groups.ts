/**
 * What pairs determine. A pair gives g_i conj(g_j): along pairs both gains are known up to one number, which a loop of
 * an even number of stations does not constrain. With it g_i of one side may grow by t while the other side's shrink by
 * 1/t, with all pairs unchanged. An odd loop (three stations, or one with its own power) fixes its size, and leaves
 * only a phase. So two clusters with only the pairs between them have gains of any size, and groups without a pair
 * between them a phase each.
 */
import { refuse } from '../core/errors.js';

interface Group {
  readonly stations: readonly number[];
  /** Whether there is a loop of an odd number of stations among its pairs. */
  readonly isOdd: boolean;
}

/** Reached by an even number of pairs, an odd number, or both. */
const [EVEN, ODD] = [1, 2];

/** The groups of those stations; `isPair` is called for a station with itself too. Their first stations ascend. */
export function groupsOf(
  stations: readonly number[],
  isPair: (i: number, j: number) => boolean,
): readonly Group[] {
  const reached = new Map<number, number>();
  // Stations not reached yet by an even path, and by an odd one: where most pairs exist both are soon empty.
  const waiting = new Map([
    [EVEN, [...stations]],
    [ODD, [...stations]],
  ]);
  const groups: Group[] = [];
  for (const first of stations) {
    if (reached.has(first)) continue;
    const mine = new Set<number>();
    let isOdd = false;
    const next: [station: number, way: number][] = [];
    const reach = (station: number, way: number): void => {
      const before = reached.get(station) ?? 0;
      reached.set(station, before | way);
      mine.add(station);
      isOdd ||= (before | way) === (EVEN | ODD);
      next.push([station, way]);
    };
    reach(first, EVEN);
    for (let at = next.pop(); at; at = next.pop()) {
      const [station, way] = at;
      const other = EVEN + ODD - way;
      const left: number[] = [];
      for (const one of waiting.get(other) ?? []) {
        if (((reached.get(one) ?? 0) & other) !== 0) continue;
        if (isPair(station, one)) reach(one, other);
        else left.push(one);
      }
      waiting.set(other, left);
    }
    groups.push({ stations: [...mine].sort((a, b) => a - b), isOdd });
  }
  return groups;
}

/** The largest group that is determined, else the largest; the first of equals. */
export function mainGroup(groups: readonly Group[]): Group | undefined {
  const held = groups.filter(({ isOdd }) => isOdd);
  return (held.length > 0 ? held : groups).reduce<Group | undefined>(
    (best, group) => (best && best.stations.length >= group.stations.length ? best : group),
    undefined,
  );
}

/** Where not even the main group is determined. */
export const refuseOpen = (where: string, stations: number): never =>
  refuse(
    where,
    `the pairs of ${stations} stations leave their gains open: no three of them have pairs with each other, nor does a longer odd ` +
      'loop close, so that gains of other sizes fit the data as well',
    'leave out fewer baselines (`min-baseline`) and inputs (flags.inputs)',
  );
