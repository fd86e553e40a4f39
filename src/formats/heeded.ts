/** What the user said against what the file says: an option that a file's own header outdoes is refused, not ignored. */
import { refuse } from '../core/errors.js';
import { formatInstant, secondsBetween } from '../core/instant.js';
import { formatHz } from '../core/units.js';
import type { OpenedFile, OpenOptions } from './format.js';

export function refuseUnheeded(file: OpenedFile, options: OpenOptions): void {
  if (file.kind === 'visibilities') return;
  const differs = (option: string, said: string): never =>
    refuse(file.path, `says itself ${said}`, `leave out --${option}, which is for files that do not`);
  const { inputs, polarisations, sampleRateHz, centreFrequencyHz, start, type } = options;
  if (inputs !== undefined && inputs !== file.inputs) differs('inputs', `that it has ${file.inputs} inputs`);
  if (polarisations !== undefined && polarisations !== file.polarisations)
    differs('polarisations', `that a station has ${file.polarisations}`);
  if (start !== undefined && secondsBetween(start, file.start) !== 0)
    differs('start', `that it begins at ${formatInstant(file.start, 9)}`);
  // Rates and frequencies of channelised data are the channels' own, and the formats' business.
  if (file.kind === 'spectra') return;
  if (sampleRateHz !== undefined && sampleRateHz !== file.sampleRateHz)
    differs('rate', `that it has ${formatHz(file.sampleRateHz)}`);
  if (centreFrequencyHz !== undefined && centreFrequencyHz !== file.centreFrequencyHz)
    differs('frequency', `that its band is around ${formatHz(file.centreFrequencyHz)}`);
  if (type !== undefined && type !== file.type) differs('sample-type', `that its samples are ${file.type}`);
}
