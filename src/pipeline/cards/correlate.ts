/**
 * One correlation on several cards, each with some of the channels: every card makes all spectra and correlates its own.
 * Channels are independent, so the integrations, put together, are those of one card, bit for bit.
 */
import type { Backend } from '../../backend/backend.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import { baselineCount, countsCB, countsCBPP, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { allProductCounts } from '../../core/product-counts.js';
import type { Recording } from '../../formats/index.js';
import { correlatePart, spectraOf, type PartSettings } from '../parts.js';
import type { Account, Emit } from '../stages/stage.js';
import { emptyAccount } from '../stages/stage.js';
import { channelRanges } from './ranges.js';
import { Together } from './together.js';

export async function correlateOnCards(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  settings: Omit<PartSettings, 'backend'>,
  backends: readonly Backend[],
  emit: Emit<Integration>,
): Promise<Account> {
  const spectra = spectraOf(recording, plan);
  const channels = recording.kind === 'spectra' ? recording.channels : (plan?.channels ?? 0);
  const ranges = channelRanges(channels, backends.length);
  const account = { ...emptyAccount(), samplesIn: recording.samples, spectra };
  const together = new Together<Integration>(backends.length, async (parts) => {
    account.integrations++;
    await emit(joined(parts));
  });
  const stop = settings.stop ? AbortSignal.any([settings.stop, together.signal]) : together.signal;
  const counted = await together.all(
    backends.map((backend, k) => {
      const { first, end } = ranges[k];
      const box = { firstSpectrum: 0, endSpectrum: spectra, firstChannel: first, endChannel: end };
      return correlatePart(recording, plan, { ...settings, backend, stop }, box, together.emit(k));
    }),
  );
  for (const { missingSamples, saturated } of counted) {
    account.missingSamples += missingSamples;
    account.saturated += saturated;
  }
  return account;
}

/** Integrations of one time, channel after channel. */
export function joined(parts: readonly Integration[]): Integration {
  const [{ start, durationS, stations, polarisations, flaggedInputs }] = parts;
  const channels = parts.reduce((sum, part) => sum + part.channels, 0);
  const baselines = baselineCount(stations);
  const counts = new Float64Array(channels * baselines);
  const perChannel = baselines * polarisations ** 2;
  const sums = new Float64Array(2 * channels * perChannel);
  // Of products as soon as one part has them.
  const own = parts.some(({ productCounts }) => productCounts)
    ? new Float64Array(channels * perChannel)
    : undefined;
  let c = 0;
  for (const part of parts) {
    sums.set(part.visibilities, 2 * c * perChannel);
    counts.set(part.counts, c * baselines);
    own?.set(part.productCounts ?? allProductCounts(part), c * perChannel);
    c += part.channels;
  }
  return {
    ...{ start, durationS, channels, stations, polarisations, flaggedInputs },
    visibilities: visibilitiesCBPP(sums, channels, baselines, polarisations),
    counts: countsCB(counts, channels, baselines),
    ...(own && { productCounts: countsCBPP(own, channels, baselines, polarisations) }),
  };
}
