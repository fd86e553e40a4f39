/** Some channels of an integration, with sums and counts unchanged. */
import {
  baselineCount,
  countsCB,
  countsCBPP,
  visibilitiesCBPP,
  weightsCBPP,
  type VisibilitiesCBPP,
} from '../core/axes.js';
import type { Integration } from '../core/blocks.js';

export function takeChannels(one: Integration, channels: readonly number[]): Integration {
  const { stations, polarisations, visibilities, counts, productCounts, passThrough } = one;
  const baselines = baselineCount(stations);
  const products = polarisations ** 2;
  const take = (from: Float64Array, each: number): Float64Array => {
    const into = new Float64Array(channels.length * each);
    channels.forEach((c, k) => {
      into.set(from.subarray(c * each, (c + 1) * each), k * each);
    });
    return into;
  };
  const shape = [channels.length, baselines, polarisations] as const;
  const valuesOf = (all: VisibilitiesCBPP): VisibilitiesCBPP =>
    visibilitiesCBPP(take(all, 2 * baselines * products), ...shape);
  return {
    start: one.start,
    durationS: one.durationS,
    channels: channels.length,
    stations,
    polarisations,
    flaggedInputs: one.flaggedInputs,
    ...(one.pairs && { pairs: one.pairs }),
    visibilities: valuesOf(visibilities),
    counts: countsCB(take(counts, baselines), channels.length, baselines),
    ...(productCounts && {
      productCounts: countsCBPP(take(productCounts, baselines * products), ...shape),
    }),
    ...(passThrough && {
      passThrough: {
        ...passThrough,
        means: valuesOf(passThrough.means),
        weights: weightsCBPP(take(passThrough.weights, baselines * products), ...shape),
      },
    }),
  };
}
