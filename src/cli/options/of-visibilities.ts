/** Flags of commands whose source is visibilities, for observation/flags.ts. */
import { flagRules, timesFlag, type FlagSettings } from '../../observation/index.js';

/** Fields of sources and of the chain before correlation. */
export const notOfVisibilities = [
  'stations',
  'for',
  'source.capture',
  'source.listen',
  'source.interface',
  'source.epoch',
  'source.meta',
  'source.duration',
  'machine.cards',
  'flags.kurtosis',
  'flags.kurtosis-spectra',
  'flags.kurtosis-over',
  'flags.kurtosis-bursts',
] as const;

/** Fields of correlation. */
export const notWritten = ['integration', 'align', 'values', 'van-vleck', 'file-every'].map(
  (name) => `products.visibilities.${name}`,
);

export const ofVisibilities: Pick<FlagSettings, 'source' | 'also'> = {
  source: 'visibilities',
  also: [flagRules, timesFlag],
};

export const CHANNELS_FLAG = '--keep-channels <list>';
