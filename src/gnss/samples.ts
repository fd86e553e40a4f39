/** Samples of a recording with its carrier at 0 Hz, for acquisition, and replicas of satellite signals. */
import { elementsPerVoltage } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { secondsBetween } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { caCode, CHIP_RATE_HZ, CHIPS, L1_HZ } from './codes.js';
import { BIN_RATE_HZ } from './search.js';

export type Described = Pick<VoltageSource, 'type' | 'sampleRateHz' | 'centreFrequencyHz'>;

/** Frequency of L1 in the samples: from the lower edge of a real band, from the centre of a complex one. */
export const carrierHz = ({ type, sampleRateHz, centreFrequencyHz }: Described): number =>
  elementsPerVoltage(type) === 1 ? L1_HZ - (centreFrequencyHz - sampleRateHz / 4) : L1_HZ - centreFrequencyHz;

/** Lower and upper edge of the recorded band. */
export function bandOf({ type, sampleRateHz, centreFrequencyHz }: Described): readonly [number, number] {
  const half = sampleRateHz / (elementsPerVoltage(type) === 1 ? 4 : 2);
  return [centreFrequencyHz - half, centreFrequencyHz + half];
}

/** Adds a block's samples of some inputs to bins : [input][bin] complex. */
export function addToBins(
  block: VoltageBlock,
  firstSample: number,
  source: Described,
  inputs: readonly number[],
  bins: readonly Float64Array[],
): void {
  const parts = elementsPerVoltage(source.type);
  const carrier = carrierHz(source) / source.sampleRateHz;
  const perSample = BIN_RATE_HZ / source.sampleRateHz;
  const { samples, voltages } = block;
  for (let t = 0; t < samples; t++) {
    const at = Math.floor((firstSample + t) * perSample);
    if (2 * at + 1 >= bins[0].length) break;
    const turns = (firstSample + t) * carrier;
    const phase = -2 * Math.PI * (turns - Math.floor(turns));
    const c = Math.cos(phase);
    const s = Math.sin(phase);
    for (let k = 0; k < inputs.length; k++) {
      const a = inputs[k];
      const from = (a * samples + t) * parts;
      const re = voltages[from];
      const im = parts === 2 ? voltages[from + 1] : 0;
      bins[k][2 * at] += re * c - im * s;
      bins[k][2 * at + 1] += re * s + im * c;
    }
  }
}

/** A satellite's signal, conjugated: samples times this add up in phase. */
export interface Replica {
  readonly prn: number;
  readonly dopplerHz: number;
  /** Start of a code, in samples from the recording's first. */
  readonly codeStartSamples: number;
}

/** Fills re and im for the samples from `first` on, [sample]. */
export function replicaInto(
  { prn, dopplerHz, codeStartSamples }: Replica,
  source: Described,
  first: number,
  into: { readonly re: Float32Array; readonly im: Float32Array; readonly samples: number },
): void {
  const chips = caCode(prn);
  const { sampleRateHz } = source;
  const chipsPerSample = (CHIP_RATE_HZ * (1 + dopplerHz / L1_HZ)) / sampleRateHz;
  const turnsPerSample = (carrierHz(source) + dopplerHz) / sampleRateHz;
  const stepC = Math.cos(2 * Math.PI * turnsPerSample);
  const stepS = -Math.sin(2 * Math.PI * turnsPerSample);
  let c = 1;
  let s = 0;
  for (let t = 0; t < into.samples; t++) {
    // The recurrence restarts before it drifts.
    if (t % 1024 === 0) {
      const turns = (first + t) * turnsPerSample;
      const phase = -2 * Math.PI * (turns - Math.floor(turns));
      c = Math.cos(phase);
      s = Math.sin(phase);
    }
    const chip = Math.floor((first + t - codeStartSamples) * chipsPerSample) % CHIPS;
    const value = chips[chip < 0 ? chip + CHIPS : chip];
    into.re[t] = value * c;
    into.im[t] = value * s;
    const next = c * stepC - s * stepS;
    s = c * stepS + s * stepC;
    c = next;
  }
}

/** A block, and the number of its first sample. */
export interface Numbered {
  readonly block: VoltageBlock;
  readonly first: number;
}

/** Blocks up to `end`. */
export async function* numberedBlocks(
  source: VoltageSource,
  blockSamples: number,
  end: number,
): AsyncGenerator<Numbered> {
  for await (const block of source.blocks(blockSamples, { first: 0, end })) {
    const first = Math.round(secondsBetween(source.start, block.start) * source.sampleRateHz);
    if (first >= end) return;
    yield { block, first };
    block.release?.();
  }
}
