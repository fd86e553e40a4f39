/** Channels shared among the cards of a machine: neighbours together, as even as they can be. Pure. */
import { refuse } from '../../core/errors.js';
import type { ChannelRange } from '../select-channels.js';

export function channelRanges(channels: number, cards: number): ChannelRange[] {
  if (cards > channels)
    refuse(
      'machine.cards',
      `${cards} cards for ${channels} channels`,
      `name at most ${channels}, or make more channels`,
    );
  const at = (k: number): number => Math.round((channels * k) / cards);
  return Array.from({ length: cards }, (_, k) => ({ first: at(k), end: at(k + 1) }));
}
