/**
 * Cuts a source's blocks at packet boundaries. A source chooses its own block lengths; the remainder after the last
 * whole packet begins the next block.
 */
import { elementsPerSpectra, elementsPerVoltage } from '../core/axes.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Source } from '../core/sources.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { samplesOf, type Block } from './blocks.js';

/** Valid until the next is requested. Only the last may hold samples that do not fill a packet, and nothing else. */
export async function* wholeSlots(
  source: Source,
  { samplesPerSlot }: Pick<StreamPlan, 'samplesPerSlot'>,
  blockSamples: number,
): AsyncGenerator<Block> {
  const rows = source.inputs * (source.kind === 'spectra' ? source.channels : 1);
  const each = source.kind === 'spectra' ? elementsPerSpectra(source.type) : elementsPerVoltage(source.type);
  let left: Block | undefined;
  for await (const given of source.blocks(blockSamples)) {
    const block = samplesOf(given);
    if (!left && block.samples % samplesPerSlot === 0) {
      yield block;
      given.release?.();
      continue;
    }
    const joined = left ? join(left, block, { rows, each }) : block;
    const whole = joined.samples - (joined.samples % samplesPerSlot);
    const first = cut(joined, 0, whole, { rows, each });
    left = whole < joined.samples ? cut(joined, whole, joined.samples, { rows, each }) : undefined;
    given.release?.();
    if (whole > 0) yield first;
  }
  if (left) yield left;
}

/** Rows of samples : [row][t], with this many elements each. */
interface Rows {
  readonly rows: number;
  readonly each: number;
}

type Elements = Block['elements'];

const roomFor = (like: Elements, length: number): Elements =>
  new (like.constructor as new (length: number) => Elements)(length);

function copyRows(from: Block, to: Block, { rows, each }: Rows, at: { from: number; to: number }): void {
  const samples = Math.min(from.samples - at.from, to.samples - at.to);
  for (let row = 0; row < rows; row++) {
    const start = (row * from.samples + at.from) * each;
    to.elements.set(from.elements.subarray(start, start + samples * each), (row * to.samples + at.to) * each);
  }
}

const moved = (gap: SpectraGap, by: number): SpectraGap => ({
  ...gap,
  firstSample: gap.firstSample + by,
  endSample: gap.endSample + by,
});

function join(first: Block, second: Block, shape: Rows): Block {
  const samples = first.samples + second.samples;
  const block: Block = {
    elements: roomFor(second.elements, shape.rows * samples * shape.each),
    samples,
    gaps: [...first.gaps, ...second.gaps.map((gap) => moved(gap, first.samples))],
  };
  copyRows(first, block, shape, { from: 0, to: 0 });
  copyRows(second, block, shape, { from: 0, to: first.samples });
  return block;
}

function cut(block: Block, from: number, to: number, shape: Rows): Block {
  const piece: Block = {
    elements: roomFor(block.elements, shape.rows * (to - from) * shape.each),
    samples: to - from,
    gaps: block.gaps
      .filter(({ firstSample, endSample }) => firstSample < to && from < endSample)
      .map((gap) => ({
        ...gap,
        firstSample: Math.max(gap.firstSample, from) - from,
        endSample: Math.min(gap.endSample, to) - from,
      })),
  };
  copyRows(block, piece, shape, { from, to: 0 });
  return piece;
}
