/** Seeded voltages for the shared cases. */
import { allocateVoltages, elementsPerVoltage, voltagesAT, type VoltageType } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import type { VoltageGap } from '../core/gaps.js';
import { instant } from '../core/instant.js';
import type { RandomStream } from '../core/random.js';

/** The range of a recorded part; including the lowest value, which a converter may well give. */
const range = {
  i8: [-128, 127],
  ci8: [-128, 127],
  i16: [-32768, 32767],
  ci16: [-32768, 32767],
  f32: [-1, 1],
  cf32: [-1, 1],
} satisfies Record<VoltageType, readonly [number, number]>;

const isFloat = (type: VoltageType): boolean => type === 'f32' || type === 'cf32';

/** A stream [a][t] with each part made by `part`, of any length, to be cut into blocks. */
export function streamOf(
  type: VoltageType,
  inputs: number,
  samples: number,
  part: () => number,
): VoltageBlock {
  const voltages = allocateVoltages(type, inputs, samples);
  for (let n = 0; n < voltages.length; n++) voltages[n] = part();
  return { type, inputs, samples, voltages, gaps: [], start: instant(0) };
}

/** Normal deviates of a quarter of full scale, cut off at its ends. */
export function noise(
  type: VoltageType,
  inputs: number,
  samples: number,
  stream: RandomStream,
): VoltageBlock {
  const [low, high] = range[type];
  return streamOf(type, inputs, samples, () => {
    const value = Math.max(low, Math.min(high, (stream.gaussian() * high) / 4));
    return isFloat(type) ? value : Math.round(value);
  });
}

/** Each part at one end of its range or the other. */
export function fullScale(
  type: VoltageType,
  inputs: number,
  samples: number,
  stream: RandomStream,
): VoltageBlock {
  return streamOf(type, inputs, samples, () => range[type][stream.below(2)]);
}

/** Zeroes samples inside gaps, as a block's contract requires. */
export function withGaps(whole: VoltageBlock, gaps: readonly VoltageGap[]): VoltageBlock {
  const parts = elementsPerVoltage(whole.type);
  for (const gap of gaps) {
    for (let a = gap.firstInput; a < gap.endInput; a++) {
      const row = a * whole.samples;
      whole.voltages.fill(0, (row + gap.firstSample) * parts, (row + gap.endSample) * parts);
    }
  }
  return { ...whole, gaps };
}

/** The stream in blocks of the given lengths, gaps cut with it; the rest makes a last block. */
export function cut(whole: VoltageBlock, lengths: readonly number[]): VoltageBlock[] {
  const blocks: VoltageBlock[] = [];
  let first = 0;
  for (const length of [...lengths, Infinity]) {
    const end = Math.min(whole.samples, first + length);
    blocks.push(piece(whole, first, end));
    first = end;
  }
  return blocks;
}

function piece(whole: VoltageBlock, first: number, end: number): VoltageBlock {
  const { type, inputs } = whole;
  const parts = elementsPerVoltage(type);
  const samples = end - first;
  const voltages = allocateVoltages(type, inputs, samples);
  for (let a = 0; a < inputs; a++) {
    const row = a * whole.samples;
    voltages.set(whole.voltages.subarray((row + first) * parts, (row + end) * parts), a * samples * parts);
  }
  const gaps = whole.gaps
    .map((gap) => ({
      ...gap,
      firstSample: Math.max(0, gap.firstSample - first),
      endSample: Math.min(samples, gap.endSample - first),
    }))
    .filter((gap) => gap.firstSample < gap.endSample);
  return { ...whole, samples, voltages: voltagesAT(voltages, type, inputs, samples), gaps };
}
