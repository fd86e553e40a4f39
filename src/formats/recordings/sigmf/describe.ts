/** SigMF metadata for samples from a pipe or a socket. */
import { entryOf } from '../../../core/entry-of.js';
import { refuse } from '../../../core/errors.js';
import { parseInstant } from '../../../core/instant.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { readJson } from '../../io/input.js';
import type { StreamDescription, StreamType } from '../stream.js';
import { checkMeta, telescopeOf, voltageDatatypes } from './meta.js';

const streamTypes: Readonly<Record<string, StreamType>> = {
  ...Object.fromEntries(Object.entries(voltageDatatypes).map(([type, word]) => [word, type])),
  ru8: 'u8',
  cu8: 'cu8',
};

interface DescribedStream extends Partial<Omit<StreamDescription, 'type' | 'inputs'>> {
  readonly type: StreamType;
  readonly inputs: number;
  readonly telescope?: Telescope;
}

export async function describeSigmf(path: string): Promise<DescribedStream> {
  const meta = checkMeta(await readJson(path), path);
  const { global } = meta;
  const [capture] = meta.captures;
  if (global['corella:spectra_type'] !== undefined)
    refuse(path, 'describes channelised data', 'streams hold voltages');
  const datatype = global['core:datatype'];
  const type =
    entryOf(streamTypes, datatype) ??
    refuse(
      path,
      `core:datatype '${datatype}' is not read from a stream`,
      `known are ${Object.keys(streamTypes).join(', ')}`,
    );
  const telescope = await telescopeOf(meta, path);
  const rateHz = global['core:sample_rate'];
  const frequencyHz = capture['core:frequency'];
  const polarisations = global['corella:polarisations'];
  const time = capture['core:datetime'];
  return {
    type,
    inputs: global['core:num_channels'] ?? 1,
    sampleRateHz: rateHz,
    centreFrequencyHz: frequencyHz,
    polarisations,
    ...(time === undefined ? {} : { start: parseInstant(time, path) }),
    telescope,
  };
}
