/**
 * Runs the observation once on zeros before listening: kernels are compiled, memory is touched, and what cannot work is
 * refused before data can be lost.
 */
import type { Source } from '../core/sources.js';
import { runStreamEpoch } from './chain.js';
import type { LiveSettings } from './settings.js';

const ignore = (): Promise<void> => Promise.resolve();

export async function rehearse(silence: Source, settings: LiveSettings): Promise<void> {
  // Statistics of zeros are not counted.
  const { vanVleck, flags } = settings;
  const uncounted = {
    ...settings,
    vanVleck: vanVleck && {},
    flags: flags && { ...flags, tally: undefined },
    further: undefined,
  };
  await runStreamEpoch(silence, uncounted, { integration: ignore, image: ignore, noImage: () => undefined });
}
