/** Means and weights of every product: from the file if it had them, else from sums and counts. */
import { baselineCount, visibilitiesCBPP, weightsCBPP } from '../core/axes.js';
import type { PassThrough, Integration } from '../core/blocks.js';
import { productCount, settleCounts } from '../core/product-counts.js';

/** Weights are negative where an input is flagged, as files keep them. */
export function storedOf(one: Integration): PassThrough {
  if (one.passThrough) return one.passThrough;
  const { channels, stations, polarisations: p, visibilities, flaggedInputs } = one;
  const baselines = baselineCount(stations);
  const weights = new Float64Array(channels * baselines * p * p);
  const means = new Float64Array(2 * weights.length);
  let at = 0;
  for (let c = 0; c < channels; c++)
    for (let i = 0, b = 0; i < stations; i++)
      for (let j = 0; j <= i; j++, b++)
        for (let pi = 0; pi < p; pi++)
          for (let pj = 0; pj < p; pj++, at++) {
            const count = productCount(one, c * baselines + b, pi, pj);
            const isFlagged = flaggedInputs[i * p + pi] === 1 || flaggedInputs[j * p + pj] === 1;
            weights[at] = isFlagged ? -count : count;
            if (!(count > 0)) continue;
            means[2 * at] = visibilities[2 * at] / count;
            means[2 * at + 1] = visibilities[2 * at + 1] / count;
          }
  return {
    means: visibilitiesCBPP(means, channels, baselines, p),
    weights: weightsCBPP(weights, channels, baselines, p),
  };
}

/**
 * The same integration with other weights, and means where they changed: weights not above 0 leave the sums. Where
 * means are unchanged so are the sums, so that integers stay integers.
 */
export function restored(one: Integration, stored: PassThrough, means: 'kept' | 'changed'): Integration {
  const { channels, stations, polarisations } = one;
  const sums = new Float64Array(stored.means.length);
  const from = means === 'kept' ? one.visibilities : undefined;
  for (let at = 0; at < stored.weights.length; at++) {
    const weight = stored.weights[at];
    if (!(weight > 0)) continue;
    sums[2 * at] = from ? from[2 * at] : stored.means[2 * at] * weight;
    sums[2 * at + 1] = from ? from[2 * at + 1] : stored.means[2 * at + 1] * weight;
  }
  return {
    start: one.start,
    durationS: one.durationS,
    channels,
    stations,
    polarisations,
    ...(one.pairs && { pairs: one.pairs }),
    ...settleCounts(one, stored.weights),
    visibilities: visibilitiesCBPP(sums, channels, baselineCount(stations), polarisations),
    passThrough: stored,
  };
}
