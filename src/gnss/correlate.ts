/** Correlates every input with satellites' replicas, one code period at a time. */
import { elementsPerVoltage } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { CODE_S } from './codes.js';
import { replicaInto, type Described, type Replica } from './samples.js';

/** values : [period][input] complex; the first and last period may be parts of one. */
export interface Periods {
  readonly replica: Replica;
  readonly values: Float64Array;
  readonly counts: Float64Array;
}

export interface Despreader {
  add(block: VoltageBlock, first: number): void;
  readonly satellites: readonly Periods[];
}

export function prepareDespreader(
  replicas: readonly Replica[],
  source: Described,
  inputs: readonly number[],
  totalSamples: number,
): Despreader {
  const perPeriod = source.sampleRateHz * CODE_S;
  const periods = Math.ceil(totalSamples / perPeriod) + 2;
  const parts = elementsPerVoltage(source.type);
  const satellites = replicas.map((replica) => ({
    replica,
    values: new Float64Array(2 * periods * inputs.length),
    counts: new Float64Array(periods),
  }));
  let [re, im] = [new Float32Array(0), new Float32Array(0)];
  return {
    satellites,
    add: (block, first) => {
      const samples = Math.min(block.samples, totalSamples - first);
      if (samples <= 0) return;
      if (re.length < samples) [re, im] = [new Float32Array(samples), new Float32Array(samples)];
      for (const { replica, values, counts } of satellites) {
        replicaInto(replica, source, first, { re, im, samples });
        const begin = replica.codeStartSamples - perPeriod * Math.ceil(replica.codeStartSamples / perPeriod);
        for (let t = 0; t < samples;) {
          const period = Math.floor((first + t - begin) / perPeriod);
          const end = Math.min(samples, Math.max(t + 1, Math.ceil(begin + (period + 1) * perPeriod) - first));
          counts[period] += end - t;
          for (const [k, a] of inputs.entries()) {
            let sumRe = 0;
            let sumIm = 0;
            const row = a * block.samples;
            const { voltages } = block;
            if (parts === 1)
              for (let n = t; n < end; n++) {
                const value = voltages[row + n];
                sumRe += value * re[n];
                sumIm += value * im[n];
              }
            else
              for (let n = t; n < end; n++) {
                const x = voltages[2 * (row + n)];
                const y = voltages[2 * (row + n) + 1];
                sumRe += x * re[n] - y * im[n];
                sumIm += x * im[n] + y * re[n];
              }
            const at = 2 * (period * inputs.length + k);
            values[at] += sumRe;
            values[at + 1] += sumIm;
          }
          t = end;
        }
      }
    },
  };
}

/** Mean power of whole periods over inputs. */
export function meanPower({ values, counts }: Periods, inputs: number): number {
  const most = Math.max(...counts);
  let [sum, used] = [0, 0];
  counts.forEach((count, period) => {
    if (count < 0.99 * most) return;
    used++;
    for (let k = 0; k < inputs; k++) {
      const at = 2 * (period * inputs + k);
      sum += values[at] ** 2 + values[at + 1] ** 2;
    }
  });
  return sum / Math.max(1, used * inputs);
}
