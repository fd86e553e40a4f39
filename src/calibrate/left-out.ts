/** Stations that no solve can use, and why. */
import { baselineIndex } from '../core/axes.js';
import { groupsOf, mainGroup } from './groups.js';

/** `apart`: no pairs connect it to the others. `open`: pairs leave the gains of a whole solve open (groups.ts). */
export type LeftOutReason = 'flagged' | 'no baselines' | 'no model' | 'no signal' | 'apart' | 'open';
export interface LeftOut {
  readonly station: number;
  readonly reason: LeftOutReason;
}

/** For an unsolved solve: its other stations are open. */
export const openLeftOut = (stations: number, dropped: readonly LeftOut[]): LeftOut[] => {
  const reasons = new Map(dropped.map(({ station, reason }) => [station, reason]));
  return Array.from({ length: stations }, (_, station) => ({
    station,
    reason: reasons.get(station) ?? 'open',
  }));
};

export interface Dropped {
  /** Ascending. */
  readonly dropped: readonly LeftOut[];
  /** Whether the pairs of the remaining stations leave their gains open. */
  readonly isOpen: boolean;
}

/**
 * Clears the weights of stations that are left out, first those with a reason of their own, then all but the main
 * group.
 */
export function dropStations(
  stations: number,
  weights: Float64Array,
  reasonAgainst: (station: number) => LeftOutReason | undefined,
  isPair: (i: number, j: number) => boolean,
): Dropped {
  const leftOut = new Map<number, LeftOutReason>();
  const drop = (i: number, reason: LeftOutReason): void => {
    leftOut.set(i, reason);
    for (let j = 0; j < stations; j++) weights[i >= j ? baselineIndex(i, j) : baselineIndex(j, i)] = 0;
  };
  for (;;) {
    for (let changed = true; changed;) {
      changed = false;
      for (let i = 0; i < stations; i++) {
        const reason = leftOut.has(i) ? undefined : reasonAgainst(i);
        if (reason === undefined) continue;
        drop(i, reason);
        changed = true;
      }
    }
    const staying = Array.from({ length: stations }, (_, s) => s).filter((s) => !leftOut.has(s));
    const groups = groupsOf(staying, isPair);
    const main = mainGroup(groups);
    if (groups.length > 1 && main) {
      const kept = new Set(main.stations);
      for (const s of staying) if (!kept.has(s)) drop(s, 'apart');
      // Stations paired only with those have no signal now.
      continue;
    }
    const dropped = [...leftOut].map(([station, reason]) => ({ station, reason }));
    return { dropped: dropped.sort((a, b) => a.station - b.station), isOpen: main?.isOdd === false };
  }
}
