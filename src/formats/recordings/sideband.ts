/**
 * Bands that were recorded inverted: the lower sideband (high-side mixing, an even Nyquist zone), or a header whose
 * band descends. Real samples at rate R hold ν = f_high − f; with every second one negated they hold R/2 − ν, and with
 * it f, with phases of the right sign. Complex ones become their conjugates.
 */
import { isComplexVoltage, type VoltageElements } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { secondsBetween } from '../../core/instant.js';
import type { FrameTally, OpenedFile, OpenOptions, VoltageRecording } from '../format.js';
import { emptyTally } from './frames.js';
import type { Target } from './recording.js';

/** Makes one row upright. The lowest integer has no opposite: it becomes the highest, and is counted. */
export function invertBand(
  { elements, stride, at, count }: Target<VoltageElements>,
  row: number,
  of: { readonly parts: 1 | 2; readonly from: number; readonly tally: Pick<FrameTally, 'saturated'> },
): void {
  const lowest = elements instanceof Int8Array ? -128 : elements instanceof Int16Array ? -32_768 : undefined;
  const first = (row * stride + at) * of.parts;
  const start = of.parts === 2 ? 1 : (of.from + 1) % 2;
  for (let k = start; k < count * of.parts; k += 2) {
    const value = elements[first + k];
    if (value === lowest) of.tally.saturated++;
    elements[first + k] = value === lowest ? -(value + 1) : 0 - value;
  }
}

/** Applied after files are joined: samples are counted from the first of all, so that stations negate the same ones. */
export function inSideband<Opened extends OpenedFile>(
  opened: Opened,
  { sideband }: Pick<OpenOptions, 'sideband'>,
): Opened | VoltageRecording {
  if (sideband !== 'lower') return opened;
  if (opened.kind !== 'voltages')
    return refuse(
      opened.path,
      `holds ${opened.kind}, whose channels have their frequencies already`,
      'leave out source.sideband',
    );
  const { start, sampleRateHz, inputs, type } = opened;
  const parts = isComplexVoltage(type) ? 2 : 1;
  const tally = emptyTally();
  return {
    ...opened,
    details: { ...opened.details, sideband },
    history: [
      ...(opened.history ?? []),
      'lower sideband: the band was recorded inverted, and is turned upright',
    ],
    get tally() {
      return {
        ...emptyTally(),
        ...opened.tally,
        saturated: (opened.tally?.saturated ?? 0) + tally.saturated,
      };
    },
    blocks: async function* (blockSamples, within) {
      tally.saturated = 0;
      for await (const block of opened.blocks(blockSamples, within)) {
        const from = Math.round(secondsBetween(start, block.start) * sampleRateHz);
        const target = { elements: block.voltages, stride: block.samples, at: 0, count: block.samples };
        for (let a = 0; a < inputs; a++) invertBand(target, a, { parts, from, tally });
        yield block;
      }
    },
  };
}
