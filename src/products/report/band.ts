/** Detects data outside the telescope's band: one of the two is wrong, and with it every position. */
import type { OpenedFile, VoltageRecording } from '../../formats/index.js';
import { message, type Message } from '../../messages/index.js';
import type { Telescope } from '../../telescope/telescope.js';

type Band = Telescope['band'];
type Receiving = Pick<Telescope, 'name' | 'band'>;

/** The band that channels of these frequencies cover; they may be in falling order. */
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

const isOutside = ({ band }: Receiving, { lowHz, highHz }: Band): boolean =>
  highHz < band.lowHz || lowHz > band.highHz;

export const bandLines = (telescope: Receiving, data: Band): Message[] =>
  isOutside(telescope, data)
    ? [
        message('sky.outside-band', {
          telescope: telescope.name,
          frequencyHz: (data.lowHz + data.highHz) / 2,
          ...telescope.band,
        }),
      ]
    : [];

export const bandFacts = (telescope: Receiving, data: Band): { readonly outsideBand?: Band } =>
  isOutside(telescope, data) ? { outsideBand: telescope.band } : {};

export function bandOf(file: OpenedFile): Band {
  if (file.kind !== 'voltages')
    return bandOfChannels((file.kind === 'spectra' ? file : file.header).frequenciesHz);
  return bandOfVoltages(file);
}
