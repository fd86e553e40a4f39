/** A range of the received channels, for a machine that processes part of the band. */
import { elementsPerSpectra, spectraCAT } from '../core/axes.js';
import type { CanonicalSpectra } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import type { Source, SpectraSource } from '../core/sources.js';
import { gapsWithin, type ChannelRange } from '../stages/index.js';
import type { LiveInput } from './opened-input.js';

/**
 * The source with only these channels. Its blocks start where those of the whole source do, so that machines with parts
 * of one band cut at the same instants. The corner turn is done on the host, not on a card.
 */
export function narrowed(source: Source, range: ChannelRange): Source {
  if (source.kind !== 'spectra')
    refuse(
      'source.channels',
      'a range is for channelised data, and these are voltages',
      'say how many channels to make, like 64',
    );
  const { first, end } = range;
  if (end > source.channels)
    refuse(
      'source.channels',
      `${first}-${end - 1} is outside the channels received, 0 to ${source.channels - 1}`,
      'choose among those',
    );
  const others = { ...source };
  // A corner turn on a card would process all channels of the packet slots.
  Reflect.deleteProperty(others, 'cells');
  if (first > 0) Reflect.deleteProperty(others, 'realChannels');
  return {
    ...others,
    channels: end - first,
    frequenciesHz: source.frequenciesHz.slice(first, end),
    blocks: (blockSamples, within) => narrowedBlocks(source, range, source.blocks(blockSamples, within)),
  };
}

async function* narrowedBlocks(
  { type, inputs }: SpectraSource,
  range: ChannelRange,
  blocks: AsyncIterable<CanonicalSpectra>,
): AsyncGenerator<CanonicalSpectra> {
  for await (const block of blocks) {
    const row = inputs * block.samples * elementsPerSpectra(type);
    const some = block.spectra.subarray(range.first * row, range.end * row);
    yield {
      ...block,
      spectra: spectraCAT(some, type, range.end - range.first, inputs, block.samples),
      gaps: gapsWithin(block.gaps, range),
    };
  }
}

/** Every stream epoch of an input, narrowed. */
export async function* narrowedEpochs(input: LiveInput, range: ChannelRange): AsyncGenerator<Source> {
  for await (const source of input.sessions()) yield narrowed(source, range);
}
