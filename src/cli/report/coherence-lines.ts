/** Told before it hurts: what the longest baseline loses where nothing follows the sky. */
import { formatSeconds } from '../../core/units.js';
import { KEEP, MOST_DELAY_WIDTHS, type Coherence } from '../../stages/index.js';

const percent = (share: number): string => {
  const value = 100 * share;
  return `${value >= 99 ? value.toFixed(2) : value.toFixed(0)} %`;
};
const length = (metres: number): string =>
  metres >= 1000 ? `${(metres / 1000).toFixed(1)} km` : `${metres.toFixed(0)} m`;

export function coherenceLines(
  coherence: Coherence,
  integrationS: number,
  way: { readonly channel: string; readonly time: string },
): string[] {
  const { longestM, delayWidths, keptInChannel } = coherence;
  const kept = coherence.keptIn(integrationS);
  return [
    ...(delayWidths > MOST_DELAY_WIDTHS
      ? [
          `note: nothing follows the sky: in a channel the longest baseline, ${length(longestM)}, keeps ` +
            `${percent(keptInChannel)} of the amplitude of a source low in the sky (delay × width ${delayWidths.toPrecision(2)}); ${way.channel}`,
        ]
      : []),
    ...(kept < KEEP
      ? [
          `note: nothing follows the sky: over ${formatSeconds(integrationS)} its fastest fringe turns ` +
            `${(coherence.fringeHz * integrationS).toPrecision(2)} times, and the longest baseline, ${length(longestM)}, keeps ${percent(kept)} of the amplitude; ${way.time}`,
        ]
      : []),
  ];
}

export const coherenceFacts = (coherence: Coherence, integrationS: number): object => ({
  longestBaselineM: coherence.longestM,
  delayTimesChannelWidth: coherence.delayWidths,
  keptInChannel: coherence.keptInChannel,
  fringeHz: coherence.fringeHz,
  keptInIntegration: coherence.keptIn(integrationS),
});
