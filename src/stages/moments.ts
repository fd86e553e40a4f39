/** When the data were taken: moments of some seconds, since the sky hardly turns meanwhile. */
import type { Integration } from '../core/blocks.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';

/** Integrations that begin within so long of the first belong to one moment: the sky turns by 0.08°. */
const TOGETHER_S = 20;

interface TimeBins {
  /** Which moment an integration belongs to, in the order of time. */
  add(integration: Pick<Integration, 'start' | 'durationS'>): number;
  /** Of each: the mean of its integrations' middles. */
  moments(): Instant[];
}

export function prepareBins(): TimeBins {
  const bins: { readonly start: Instant; sumS: number; count: number }[] = [];
  return {
    add: ({ start, durationS }) => {
      let last = bins.at(-1);
      // Whoever is not in order begins anew.
      const sinceS = last ? secondsBetween(last.start, start) : Infinity;
      if (!last || sinceS < 0 || sinceS >= TOGETHER_S) {
        last = { start, sumS: 0, count: 0 };
        bins.push(last);
      }
      last.sumS += secondsBetween(last.start, start) + durationS / 2;
      last.count++;
      return bins.length - 1;
    },
    moments: () => bins.map(({ start, sumS, count }) => addSeconds(start, sumS / count)),
  };
}
