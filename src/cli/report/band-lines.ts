/** Told: a band that the telescope does not hear. Then its frequency is wrong, or the telescope, and with it every place. */
import { formatHz } from '../../core/units.js';
import type { OpenedFile, VoltageRecording } from '../../formats/index.js';
import type { Telescope } from '../../telescope/telescope.js';

type Band = Telescope['band'];
type Hearing = Pick<Telescope, 'name' | 'band'>;

/** What channels of these frequencies reach; they may run downwards. */
export const bandOfChannels = (frequenciesHz: Float64Array): Band => {
  const ends = [frequenciesHz[0], frequenciesHz[frequenciesHz.length - 1]];
  return { lowHz: Math.min(...ends), highHz: Math.max(...ends) };
};

/** Real samples fill half of it. */
export const bandOfVoltages = ({
  centreFrequencyHz,
  sampleRateHz,
}: Pick<VoltageRecording, 'centreFrequencyHz' | 'sampleRateHz'>): Band => ({
  lowHz: centreFrequencyHz - sampleRateHz / 2,
  highHz: centreFrequencyHz + sampleRateHz / 2,
});

const isDeafTo = ({ band }: Hearing, { lowHz, highHz }: Band): boolean =>
  highHz < band.lowHz || lowHz > band.highHz;

export const bandLines = (telescope: Hearing, data: Band): string[] =>
  isDeafTo(telescope, data)
    ? [
        `note: ${formatHz((data.lowHz + data.highHz) / 2)} lies outside what ${telescope.name} hears, ` +
          `${formatHz(telescope.band.lowHz)} to ${formatHz(telescope.band.highHz)}: with a wrong frequency, or telescope, every place on the sky is wrong`,
      ]
    : [];

export const bandFacts = (telescope: Hearing, data: Band): { readonly outsideBand?: Band } =>
  isDeafTo(telescope, data) ? { outsideBand: telescope.band } : {};

export function bandOf(file: OpenedFile): Band {
  if (file.kind !== 'voltages')
    return bandOfChannels((file.kind === 'spectra' ? file : file.header).frequenciesHz);
  return bandOfVoltages(file);
}
