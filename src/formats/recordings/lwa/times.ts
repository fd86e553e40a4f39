/** First and last time tags of a file, as ticks from the first. */
import { largestTogether, smallestTogether } from '../frames.js';

export interface TagSpan {
  readonly first: bigint;
  /** Ticks from the first tag to the last. */
  readonly lastTicks: number;
}

/** `spreadTicks`: neighbouring frames further apart than this mark one of them as damaged. */
export function tagSpan(tags: readonly bigint[], spreadTicks: number): TagSpan {
  const base = tags[0];
  const ticks = tags.map((tag) => Number(tag - base));
  const least = smallestTogether(ticks, spreadTicks);
  return { first: base + BigInt(least), lastTicks: largestTogether(ticks, spreadTicks) - least };
}

/** The most common step between successive times; 0 if there is only one time. */
export function commonStep(tags: readonly bigint[]): number {
  const sorted = [...new Set(tags)].sort((x, y) => (x < y ? -1 : 1));
  const steps = new Map<number, number>();
  for (let k = 1; k < sorted.length; k++) {
    const step = Number(sorted[k] - sorted[k - 1]);
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return [...steps].reduce((best, now) => (now[1] > best[1] ? now : best), [0, 0])[0];
}
