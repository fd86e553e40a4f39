/** Some channels of passing spectra, for products of a part of the band. */
import type { Backend } from '../backend/backend.js';
import { elementsPerSpectra, spectraCAT } from '../core/axes.js';
import type { SpectraShape } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import type { TimedSpectra } from './spectra.js';
import { changing, type Stage } from './stage.js';

/** Channels from `first` up to `end`. */
export interface ChannelRange {
  readonly first: number;
  readonly end: number;
}

/** The gaps within a range of channels, counted from its first. */
export const gapsWithin = (gaps: readonly SpectraGap[], { first, end }: ChannelRange): SpectraGap[] =>
  gaps.flatMap((gap) => {
    const firstChannel = Math.max(gap.firstChannel, first) - first;
    const endChannel = Math.min(gap.endChannel, end) - first;
    return endChannel > firstChannel ? [{ ...gap, firstChannel, endChannel }] : [];
  });

/** A copy of the channels in the canonical order, where the backend needs them: it costs reading the block back. */
export function prepareSelectChannels(
  backend: Backend,
  shape: SpectraShape,
  range: ChannelRange,
): Stage<TimedSpectra, TimedSpectra> {
  const channels = range.end - range.first;
  const part = backend.allocateSpectra({ ...shape, channels });
  return {
    ...changing(async ({ block, index, start, cutAt }: TimedSpectra) => {
      const row = shape.inputs * block.samples * elementsPerSpectra(shape.type);
      const all = await block.read();
      const some = all.subarray(range.first * row, range.end * row);
      await part.write(
        spectraCAT(some, shape.type, channels, shape.inputs, block.samples),
        block.samples,
        gapsWithin(block.gaps, range),
      );
      return { block: part, index, start, cutAt };
    }),
    close: () => part.close(),
  };
}
