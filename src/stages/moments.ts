/** When the data were observed: moments of some seconds, since the sky hardly rotates meanwhile. */
import type { Integration } from '../core/blocks.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';

/** Integrations that begin within so long of the first form one moment: the sky rotates by 0.08°. */
const TOGETHER_S = 20;

interface TimeBins {
  /** The moment of an integration, added in the order of time. */
  add(integration: Pick<Integration, 'start' | 'durationS'>): number;
  /** For each moment: the mean of its integrations' middles. */
  moments(): Instant[];
}

export function prepareBins(): TimeBins {
  const bins: { readonly start: Instant; sumS: number; count: number }[] = [];
  return {
    add: ({ start, durationS }) => {
      let last = bins.at(-1);
      // An integration out of order begins a new moment.
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
