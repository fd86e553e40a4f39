/** Decorrelation of the longest baseline without tracking. */
import { present } from '../../core/present.js';
import { message, type Message } from '../../messages/index.js';
import { longestIntegrationS, KEEP, MOST_DELAY_WIDTHS, type Coherence } from '../../stages/index.js';

/** `field` is the field for the integration length. */
export function coherenceLines(coherence: Coherence, integrationS: number, field: string): Message[] {
  const { longestM, delayWidths, keptInChannel, fringeHz } = coherence;
  const kept = coherence.keptIn(integrationS);
  return present(
    delayWidths > MOST_DELAY_WIDTHS &&
      message('sky.not-tracked-channel', { longestM, kept: keptInChannel, delayWidths }),
    kept < KEEP &&
      message('sky.not-tracked-time', {
        longestM,
        kept,
        integrationS,
        turns: fringeHz * integrationS,
        longestS: longestIntegrationS(coherence),
        field,
      }),
  );
}

export const coherenceFacts = (coherence: Coherence, integrationS: number): object => ({
  longestBaselineM: coherence.longestM,
  delayTimesChannelWidth: coherence.delayWidths,
  keptInChannel: coherence.keptInChannel,
  fringeHz: coherence.fringeHz,
  keptInIntegration: coherence.keptIn(integrationS),
});
