/**
 * The night once over silence before anyone listens: kernels are compiled, memory is touched, and what cannot go well is
 * refused while nothing is lost yet.
 */
import type { Source } from '../core/sources.js';
import { runSession } from './chain.js';
import type { LiveSettings } from './settings.js';

const nobody = (): Promise<void> => Promise.resolve();

export async function rehearse(silence: Source, settings: LiveSettings): Promise<void> {
  // What silence comes to is not counted.
  const { vanVleck, flags } = settings;
  const uncounted = {
    ...settings,
    vanVleck: vanVleck && {},
    flags: flags && { ...flags, tally: undefined },
    further: undefined,
  };
  await runSession(silence, uncounted, { integration: nobody, image: nobody, noImage: () => undefined });
}
