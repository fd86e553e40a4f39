/**
 * Integrations of one time from parts of the band, channel after channel; channels of a missing part have no samples.
 */
import { baselineCount, countsCB, countsCBPP, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { allProductCounts } from '../core/product-counts.js';

interface BandPart {
  readonly channels: number;
  readonly one?: Integration;
}

export function joinChannels(parts: readonly BandPart[], like: Integration): Integration {
  const { start, durationS, stations, polarisations } = like;
  const present = parts.flatMap(({ one }) => one ?? []);
  const channels = parts.reduce((sum, part) => sum + part.channels, 0);
  const baselines = baselineCount(stations);
  const perChannel = baselines * polarisations ** 2;
  const visibilities = new Float64Array(2 * channels * perChannel);
  const counts = new Float64Array(channels * baselines);
  // An input that one part flags still counts in the others: counts per product separate them.
  const flaggedInputs = like.flaggedInputs.map((_, a) =>
    present.every((one) => one.flaggedInputs[a] === 1) ? 1 : 0,
  );
  const isOwn = present.some(
    (one) => one.productCounts ?? one.flaggedInputs.some((flag, a) => flag !== flaggedInputs[a]),
  );
  const own = isOwn ? new Float64Array(channels * perChannel) : undefined;
  let c = 0;
  for (const { channels: width, one } of parts) {
    if (one) {
      visibilities.set(one.visibilities, 2 * c * perChannel);
      counts.set(one.counts, c * baselines);
      own?.set(allProductCounts(one), c * perChannel);
    }
    c += width;
  }
  return {
    start,
    durationS,
    channels,
    stations,
    polarisations,
    flaggedInputs,
    visibilities: visibilitiesCBPP(visibilities, channels, baselines, polarisations),
    counts: countsCB(counts, channels, baselines),
    ...(own && { productCounts: countsCBPP(own, channels, baselines, polarisations) }),
  };
}
