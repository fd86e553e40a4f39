/** The chain on a card, prepared when all but the packets themselves is known. */
import type { Backend } from '../../backend/backend.js';
import type { Source } from '../../core/sources.js';
import type { CardChain } from '../../pipeline/live/card-chain.js';
import type { LiveSettings } from '../../pipeline/live/settings.js';
import { prepareLiveCard } from '../../pipeline/resident/live/card.js';
import type { ReadyToListen } from '../../receive/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { telescopeOf } from './input.js';
import type { Report } from './report.js';

/** What must be known of samples to say what shall become of them. */
export type LiveShape = Pick<Source, 'inputs' | 'polarisations'> & { readonly frequenciesHz: Float64Array };

interface Given {
  readonly backend: Backend;
  readonly report: Pick<Report, 'say'>;
  readonly settingsOf: (shape: LiveShape, telescope: Telescope) => Promise<LiveSettings>;
}

export async function earlyCard(
  { ring, band, polarisations, memory }: ReadyToListen,
  given: Telescope | undefined,
  { backend, report, settingsOf }: Given,
): Promise<CardChain | undefined> {
  if (backend.kind !== 'cuda' || !('frequenciesHz' in band)) return undefined;
  const shape = { inputs: ring.stream.inputs, polarisations, frequenciesHz: band.frequenciesHz };
  const telescope = telescopeOf(shape, given, `${ring.stream.format} packets`);
  const about = { unixSeconds: Math.floor(Date.now() / 1000), fraction: 0 };
  return prepareLiveCard({
    ...(await settingsOf(shape, telescope)),
    ...{ backend, ring, polarisations, about, memory, say: report.say },
  });
}
