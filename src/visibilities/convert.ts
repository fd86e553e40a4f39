/** Recordings to SigMF, block by block: files larger than memory pass through. */
import type { OnProgress } from '../core/progress.js';
import { channelSamplesIn, samplesIn } from '../core/gaps.js';
import { createSigmf, createSigmfSpectra, isUnknown, type Recording } from '../formats/index.js';
import { BLOCK_BYTES, written, type Writer } from '../stages/index.js';

export interface CopyOptions {
  readonly history: readonly string[];
  readonly onProgress?: OnProgress;
}

export interface Copied {
  /** Of each input, missing ones included. */
  readonly samples: number;
  /** Over all inputs and channels. */
  readonly missingSamples: number;
}

export async function copyRecording(from: Recording, path: string, options: CopyOptions): Promise<Copied> {
  const common = {
    ...(from.telescope === undefined ? {} : { telescope: from.telescope }),
    inputs: from.inputs,
    polarisations: from.polarisations,
    ...(from.bits === undefined ? {} : { bits: from.bits }),
    start: from.start,
    ...(from.unknownFacts && { unknownFacts: from.unknownFacts }),
    description: `${from.path} (${from.format})`,
    history: options.history,
  };
  if (from.kind === 'voltages') {
    const { type, sampleRateHz, centreFrequencyHz } = from;
    const create = () => createSigmf(path, { ...common, type, sampleRateHz, centreFrequencyHz });
    const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / (8 * from.inputs)));
    return copy(create, from.blocks(perBlock), (block) => samplesIn(block.gaps), from.samples, options);
  }
  const { type, channels, spectrumRateHz, frequenciesHz, channelWidthHz, levels, overUsual, realChannels } =
    from;
  const create = () =>
    createSigmfSpectra(path, {
      ...common,
      type,
      channels,
      spectrumRateHz,
      frequenciesHz,
      channelWidthHz,
      ...(levels && { levels: Array.from(levels) }),
      ...(overUsual !== undefined && { overUsual }),
      ...(realChannels !== undefined && { realChannels }),
      // A band that nobody placed counts from its middle already.
      centreFrequencyHz: isUnknown(from, 'frequency')
        ? 0
        : (frequenciesHz[0] + frequenciesHz[channels - 1]) / 2,
    });
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / (8 * channels * from.inputs)));
  return copy(create, from.blocks(perBlock), (block) => channelSamplesIn(block.gaps), from.samples, options);
}

function copy<Block extends { readonly samples: number; release?(): void }>(
  create: () => Promise<Writer<Block>>,
  blocks: AsyncIterable<Block>,
  missingIn: (block: Block) => number,
  inAll: number,
  { onProgress }: CopyOptions,
): Promise<Copied> {
  return written(create, async (append) => {
    let samples = 0;
    let missingSamples = 0;
    for await (const block of blocks) {
      await append(block);
      samples += block.samples;
      missingSamples += missingIn(block);
      block.release?.();
      onProgress?.({ done: samples, of: inAll, unit: 'samples' });
    }
    return { samples, missingSamples };
  });
}
