/**
 * One correlation on several cards, each with some of the channels: every card makes all spectra and correlates its own.
 * Channels are independent, so the integrations, put together, are those of one card, bit for bit.
 */
import type { Backend } from '../../backend/backend.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import type { Integration } from '../../core/blocks.js';
import type { Recording } from '../../formats/index.js';
import { correlatePart, spectraOf, type PartSettings } from '../parts.js';
import type { Account, Emit } from '../stages/stage.js';
import { emptyAccount } from '../stages/stage.js';
import { joinChannels } from '../visibilities/join-channels.js';
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
    await emit(
      joinChannels(
        parts.map((one) => ({ channels: one.channels, one })),
        parts[0],
      ),
    );
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
