/** Interstellar dispersion: lower frequencies arrive later. */
import { DISPERSION_S_MHZ2 } from '../core/units.js';
import type { FilterbankHeader } from '../formats/index.js';

/** The delay relative to a reference frequency. */
export const dispersionS = (dm: number, frequencyHz: number, referenceHz: number): number =>
  DISPERSION_S_MHZ2 * dm * ((1e6 / frequencyHz) ** 2 - (1e6 / referenceHz) ** 2);

/** Of a filterbank's channels, in file order. */
export const channelFrequenciesHz = ({
  firstChannelHz,
  channelStepHz,
  channels,
}: FilterbankHeader): Float64Array =>
  Float64Array.from({ length: channels }, (_, c) => firstChannelHz + c * channelStepHz);

/** The centre of the highest channel: times refer to it, as in SIGPROC and PRESTO. */
export const topHz = (header: FilterbankHeader): number =>
  channelFrequenciesHz(header).reduce((most, one) => Math.max(most, one), 0);

/** The lower edge of the band, where a pulse arrives last. */
export const bottomHz = (header: FilterbankHeader): number =>
  topHz(header) - (header.channels - 0.5) * Math.abs(header.channelStepHz);
