/** What arrives of a recording, as a recording. */
import { spectraCAT, voltagesAT } from '../../core/axes.js';
import type { Instant } from '../../core/instant.js';
import type { Source } from '../../core/sources.js';
import { createSigmf, createSigmfSpectra } from '../../formats/index.js';
import type { ArrivedSamples } from '../../send/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { recordingPaths } from '../options/outputs.js';

export interface Truth {
  append(block: ArrivedSamples): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

export async function openTruth(
  path: string,
  source: Source,
  { telescope, path: from }: { readonly telescope?: Telescope; readonly path: string },
  start: Instant,
): Promise<Truth> {
  const [, meta] = recordingPaths(path);
  const common = {
    ...(telescope && { telescope }),
    inputs: source.inputs,
    polarisations: source.polarisations,
    start,
    description: `What arrives of ${from}`,
    history: [`corella ${process.argv.slice(2).join(' ')}`],
  };
  if (source.kind === 'spectra') {
    const { type, channels, spectrumRateHz, frequenciesHz, channelWidthHz, inputs } = source;
    const writer = await createSigmfSpectra(meta, {
      ...common,
      centreFrequencyHz: (frequenciesHz[0] + frequenciesHz[channels - 1]) / 2,
      type,
      channels,
      spectrumRateHz,
      frequenciesHz,
      channelWidthHz,
    });
    return {
      ...writer,
      append: ({ elements, samples, gaps, start }) =>
        writer.append({
          spectra: spectraCAT(elements as Int8Array, type, channels, inputs, samples),
          samples,
          gaps,
          start,
        }),
    };
  }
  const { type, sampleRateHz, centreFrequencyHz, inputs, bits } = source;
  const writer = await createSigmf(meta, {
    ...{ ...common, type, sampleRateHz, centreFrequencyHz },
    ...(bits === undefined ? {} : { bits }),
  });
  return {
    ...writer,
    append: ({ elements, samples, gaps, start }) =>
      writer.append({
        type,
        inputs,
        voltages: voltagesAT(elements as Int8Array, type, inputs, samples),
        samples,
        gaps,
        start,
      }),
  };
}
