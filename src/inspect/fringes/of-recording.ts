/** Fringes of a recording: correlated in memory, with the defaults of corella correlate. */
import { refuse } from '../../core/errors.js';
import { version } from '../../core/program/version.js';
import type { OnProgress } from '../../core/progress.js';
import { checkObservation, runObservation, type ObservationInput } from '../../observation/index.js';
import { fringeCollector, type FringeCollector, type FringeSeries } from './collect.js';

/** If the telescope gives no number of channels. */
const CHANNELS = 128;

export async function fringesOfRecording(
  { source, telescope }: Pick<ObservationInput, 'source' | 'telescope'>,
  where: string,
  { channels = CHANNELS, onProgress }: { readonly channels?: number; readonly onProgress?: OnProgress },
): Promise<FringeSeries> {
  let collector: FringeCollector | undefined;
  await runObservation(
    checkObservation({
      corella: 1,
      source,
      front: { channels },
      telescope,
      products: [{ visibilities: null }],
    }),
    {
      version: version(),
      onProgress,
      onItem: (item) => {
        if (item.kind !== 'visibilities') return Promise.resolve();
        const { telescope, polarisations, feeds, frequenciesHz, channelWidthHz } = item.header;
        collector ??= fringeCollector(
          { telescope, polarisations, feeds, frequenciesHz, channelWidthHz },
          where,
        );
        collector.add(item.integration);
        return Promise.resolve();
      },
    },
  );
  return (
    collector?.series() ??
    refuse(where, 'is too short for an integration', 'record for longer, or correlate it yourself')
  );
}
