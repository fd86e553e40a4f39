/** Refines a bin of the search to a sample and to a few hertz. */
import { CHIP_RATE_HZ, CODE_S } from './codes.js';
import { meanPower, prepareDespreader, type Periods } from './correlate.js';
import type { Described, Numbered, Replica } from './samples.js';
import { BIN_RATE_HZ, type Acquired } from './search.js';

/** Trial offsets in chips; the correlation's triangle is two chips wide. */
const OFFSETS = Array.from({ length: 17 }, (_, k) => (k - 8) / 8);
const HALF_CHIP = 4;

export function refine(
  acquired: Acquired,
  source: Described,
  inputs: readonly number[],
  held: readonly Numbered[],
  totalSamples: number,
): Replica {
  const coarse = (acquired.bin * source.sampleRateHz) / BIN_RATE_HZ;
  const despread = (replicas: readonly Replica[]): readonly Periods[] => {
    const despreader = prepareDespreader(replicas, source, inputs, totalSamples);
    for (const { block, first } of held) despreader.add(block, first);
    return despreader.satellites;
  };
  const at = (dopplerHz: number, codeStartSamples: number): Replica => ({
    prn: acquired.prn,
    dopplerHz,
    codeStartSamples,
  });
  let { dopplerHz } = acquired;
  for (let k = 0; k < 3; k++) dopplerHz += phaseRateHz(despread([at(dopplerHz, coarse)])[0], inputs.length);
  // Squares leave an ambiguity of 500 Hz.
  const near = [-500, 0, 500].map((offset) => at(dopplerHz + offset, coarse));
  const strongest = largest(despread(near).map((one) => meanPower(one, inputs.length)));
  ({ dopplerHz } = near[strongest]);
  const perChip = source.sampleRateHz / CHIP_RATE_HZ;
  const late = OFFSETS.map((chips) => at(dopplerHz, coarse + chips * perChip));
  const powers = despread(late).map((one) => meanPower(one, inputs.length));
  const floor = Math.min(...powers);
  const top = largest(powers);
  let [sum, weight] = [0, 0];
  for (let k = Math.max(0, top - HALF_CHIP); k <= Math.min(powers.length - 1, top + HALF_CHIP); k++) {
    sum += OFFSETS[k] * (powers[k] - floor);
    weight += powers[k] - floor;
  }
  const perCode = source.sampleRateHz * CODE_S;
  const start = coarse + (sum / weight) * perChip;
  return at(dopplerHz, start - perCode * Math.floor(start / perCode));
}

/** The phase rate of the periods, from the phase of their squares, which removes the data bits. */
function phaseRateHz({ values }: Periods, inputs: number): number {
  const periods = values.length / (2 * inputs);
  let [re, im] = [0, 0];
  const square = (at: number): readonly [number, number] => [
    values[at] ** 2 - values[at + 1] ** 2,
    2 * values[at] * values[at + 1],
  ];
  for (let period = 1; period < periods; period++)
    for (let k = 0; k < inputs; k++) {
      const [a, b] = square(2 * (period * inputs + k));
      const [c, d] = square(2 * ((period - 1) * inputs + k));
      re += a * c + b * d;
      im += b * c - a * d;
    }
  return Math.atan2(im, re) / 2 / (2 * Math.PI * CODE_S);
}

const largest = (values: readonly number[]): number => values.indexOf(Math.max(...values));
