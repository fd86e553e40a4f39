/** The arriving part of a recording, as a recording. */
import { spectraCAT, voltagesAT } from '../core/axes.js';
import type { Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { createSigmf, createSigmfSpectra, recordingPaths } from '../formats/index.js';
import type { ArrivedSamples } from './send.js';
import type { Telescope } from '../telescope/telescope.js';

export interface Truth {
  append(block: ArrivedSamples): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

export async function openTruth(
  path: string,
  source: Source,
  {
    telescope,
    path: from,
    start,
    history,
  }: {
    readonly telescope?: Telescope;
    readonly path: string;
    readonly start: Instant;
    readonly history: readonly string[];
  },
): Promise<Truth> {
  const [, meta] = recordingPaths(path);
  const common = {
    telescope,
    inputs: source.inputs,
    polarisations: source.polarisations,
    start,
    description: `What arrives of ${from}`,
    history,
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
    ...common,
    type,
    sampleRateHz,
    centreFrequencyHz,
    bits,
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
