/** What the user said against what the file says: an option that a file's own header outdoes is refused, not ignored. */
import { refuse } from '../core/errors.js';
import { formatInstant, secondsBetween } from '../core/instant.js';
import { formatHz } from '../core/units.js';
import type { OpenedFile, OpenOptions } from './format.js';
import { signedType } from './recordings/unsigned.js';

export function refuseContradictions(file: OpenedFile, options: OpenOptions): void {
  const differs = (option: string, said: string): never =>
    refuse(file.path, `says itself ${said}`, `leave out source.${option}, which is for files that do not`);
  const { inputs, polarisations, sampleRateHz, centreFrequencyHz, start, type } = options;
  // To the MWA's reader a frequency names a coarse channel, of which a file may hold a part alone.
  if (centreFrequencyHz !== undefined && file.format !== 'mwa') {
    const { middleHz, withinHz } = bandOf(file);
    if (Math.abs(middleHz - centreFrequencyHz) > withinHz)
      differs('frequency', `that its band is around ${formatHz(middleHz)}`);
  }
  if (file.kind === 'visibilities') return;
  if (inputs !== undefined && inputs !== file.inputs) differs('inputs', `that it has ${file.inputs} inputs`);
  if (polarisations !== undefined && polarisations !== file.polarisations)
    differs('polarisations', `that a station has ${file.polarisations}`);
  if (start !== undefined && secondsBetween(start, file.start) !== 0)
    differs('start', `that it begins at ${formatInstant(file.start, 9)}`);
  // Rates of channelised data are the channels' own, and the formats' business.
  if (file.kind === 'spectra') return;
  // The GMRT's frames hold whole samples: its reader took the rate that was meant.
  if (sampleRateHz !== undefined && sampleRateHz !== file.sampleRateHz && file.format !== 'gsb')
    differs('rate', `that it has ${formatHz(file.sampleRateHz)}`);
  if (type !== undefined && signedType(type) !== file.type)
    differs('sample-type', `that its samples are ${file.type}`);
}

/** The middle of channels lies beside that of their band by half of one; of visibilities any frequency inside will do. */
function bandOf(file: OpenedFile): { readonly middleHz: number; readonly withinHz: number } {
  // What is said in whole hertz agrees with what is kept in steps of a clock.
  if (file.kind === 'voltages') return { middleHz: file.centreFrequencyHz, withinHz: 1 };
  const { frequenciesHz, channelWidthHz } = file.kind === 'spectra' ? file : file.header;
  const lowestHz = frequenciesHz[0];
  const highestHz = frequenciesHz[frequenciesHz.length - 1];
  return {
    middleHz: (lowestHz + highestHz) / 2,
    withinHz: channelWidthHz + (file.kind === 'spectra' ? 0 : (highestHz - lowestHz) / 2),
  };
}
