/** Power and missing fraction of every input of a block over time. */
import type { SpectraType, VoltageType } from '../core/axes.js';
import { sampleReader, type LookedBlock } from './voltages.js';
import { inDb } from './waterfall.js';

export interface InputPowers {
  readonly bins: number;
  /** powerDb : [a][bin], over all channels; 0 dB is rms 1, NaN where nothing arrived. */
  readonly powerDb: Float64Array;
  /** lost : [a][bin], the fraction of samples that did not arrive. */
  readonly lost: Float64Array;
}

interface Sampled {
  readonly type: VoltageType | SpectraType;
}

const MOST_BINS = 240;

export function inputPowers({ type }: Sampled, block: LookedBlock): InputPowers {
  const { samples, inputs, channels } = block;
  const bins = Math.min(MOST_BINS, samples);
  const firstOf = (bin: number): number => Math.floor((bin * samples) / bins);
  const lost = lostSamples(block, bins, firstOf);
  const squares = sumsOfSquares(type, block, bins, firstOf);
  // A complex sample has two squares.
  const parts = type.startsWith('c') ? 2 : 1;
  const powerDb = new Float64Array(inputs * bins);
  for (let at = 0; at < powerDb.length; at++) {
    const inBin = (firstOf((at % bins) + 1) - firstOf(at % bins)) * channels;
    const arrived = inBin - lost[at];
    powerDb[at] = arrived > 0 ? inDb(squares[at] / (arrived * parts)) : Number.NaN;
    lost[at] /= inBin;
  }
  return { bins, powerDb, lost };
}

/** [a][bin]; missing samples are zero and add nothing. */
function sumsOfSquares(
  type: Sampled['type'],
  { samples, inputs, channels, elements }: LookedBlock,
  bins: number,
  firstOf: (bin: number) => number,
): Float64Array {
  const read = sampleReader(type, elements);
  const row = new Float64Array(2 * samples);
  const sums = new Float64Array(inputs * bins);
  for (let c = 0; c < channels; c++) {
    for (let a = 0; a < inputs; a++) {
      read(row, (c * inputs + a) * samples);
      for (let bin = 0; bin < bins; bin++) {
        let sum = 0;
        for (let n = 2 * firstOf(bin); n < 2 * firstOf(bin + 1); n++) sum += row[n] * row[n];
        sums[a * bins + bin] += sum;
      }
    }
  }
  return sums;
}

/** [a][bin], of all channels together. */
function lostSamples(block: LookedBlock, bins: number, firstOf: (bin: number) => number): Float64Array {
  const lost = new Float64Array(block.inputs * bins);
  for (const gap of block.gaps) {
    const first = Math.floor((gap.firstSample * bins) / block.samples);
    for (let bin = first; bin < bins && firstOf(bin) < gap.endSample; bin++) {
      const from = Math.max(gap.firstSample, firstOf(bin));
      const samples = Math.max(0, Math.min(gap.endSample, firstOf(bin + 1)) - from);
      const inAll = samples * (gap.endChannel - gap.firstChannel);
      for (let a = gap.firstInput; a < gap.endInput; a++) lost[a * bins + bin] += inAll;
    }
  }
  return lost;
}
