/**
 * Finer channels of streams, reordered to the order of the band: [n][c·A + a][t] to [c·K + n][a][t]. This costs reading
 * them back.
 */
import type { Backend } from '../../backend/backend.js';
import { allocateSpectra, elementsPerSpectra, spectraCAT } from '../../core/axes.js';
import type { SpectraShape } from '../../core/blocks.js';
import type { SpectraGap } from '../../core/gaps.js';
import type { TimedSpectra } from '../spectra.js';
import { changing, type Stage } from '../stage.js';
import type { FineChannels } from './streams.js';

/** `streams`: the channeliser's output; `inputs`: of the recording. */
export function prepareFold(
  backend: Backend,
  streams: SpectraShape,
  inputs: number,
  { first, kept }: FineChannels,
): Stage<TimedSpectra, TimedSpectra> {
  const coarse = streams.inputs / inputs;
  const { type, capacity } = streams;
  const channels = coarse * kept;
  const block = backend.allocateSpectra({ type, channels, inputs, capacity });
  const room = allocateSpectra(type, channels, inputs, capacity);
  return {
    ...changing(async (timed: TimedSpectra) => {
      const { samples, gaps } = timed.block;
      const from = await timed.block.read();
      const length = inputs * samples * elementsPerSpectra(type);
      const to = room.subarray(0, channels * length);
      for (let n = 0; n < kept; n++)
        for (let c = 0; c < coarse; c++) {
          const at = ((first + n) * coarse + c) * length;
          to.set(from.subarray(at, at + length), (c * kept + n) * length);
        }
      await block.write(
        spectraCAT(to, type, channels, inputs, samples),
        samples,
        foldedGaps(gaps, coarse, inputs, { first, kept }),
      );
      const { index, start, cutAt } = timed;
      return { block, index, start, cutAt };
    }),
    close: () => block.close(),
  };
}

/** A gap of streams may cover several of the coarse channels; inside one it is a range of inputs and finer channels. */
function foldedGaps(
  gaps: readonly SpectraGap[],
  coarse: number,
  inputs: number,
  { first, kept }: Pick<FineChannels, 'first' | 'kept'>,
): SpectraGap[] {
  const boxes: SpectraGap[] = [];
  for (const gap of gaps) {
    const from = Math.max(0, gap.firstChannel - first);
    const end = Math.min(kept, gap.endChannel - first);
    if (end <= from) continue;
    for (let c = 0; c < coarse; c++) {
      const firstInput = Math.max(0, gap.firstInput - c * inputs);
      const endInput = Math.min(inputs, gap.endInput - c * inputs);
      if (endInput <= firstInput) continue;
      boxes.push({
        firstInput,
        endInput,
        firstSample: gap.firstSample,
        endSample: gap.endSample,
        firstChannel: c * kept + from,
        endChannel: c * kept + end,
      });
    }
  }
  return boxes;
}

/**
 * The shape of a channelised recording after further channelising: its own number of inputs, and the finer channels.
 */
export interface Finer {
  readonly inputs: number;
  readonly channels: FineChannels;
}

/** The spectra after a channeliser: unchanged, or finer channels in the order of the band. */
export const spectraBehind = (made: SpectraShape, finer: Finer | undefined): SpectraShape =>
  finer ? { ...made, channels: finer.channels.frequenciesHz.length, inputs: finer.inputs } : made;
