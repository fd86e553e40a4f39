/** The chain on a card, prepared when all but the packets themselves is known. */
import type { CardChain } from '../../pipeline/live/card-chain.js';
import type { LiveSettings } from '../../pipeline/live/settings.js';
import { prepareLiveCard } from '../../pipeline/resident/live/card.js';
import type { ReadyToListen } from '../../receive/index.js';
import type { Say } from './opened-input.js';

export async function earlyCard(
  { ring, band, polarisations, memory }: ReadyToListen,
  settings: LiveSettings,
  say: Say,
): Promise<CardChain | undefined> {
  const { backend } = settings;
  if (backend.kind !== 'cuda' || !('frequenciesHz' in band)) return undefined;
  const about = { unixSeconds: Math.floor(Date.now() / 1000), fraction: 0 };
  return prepareLiveCard({ ...settings, backend, ring, polarisations, about, memory, say });
}
