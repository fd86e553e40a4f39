/**
 * Sky frequencies of the bins of a chunk's spectrum. Bins are counted in rising sky frequency, j = 0…bins−1, and their
 * place in the transform follows the conventions: a complex recording wraps around its centre; a real one has its lower
 * edge at zero frequency and leaves the negative half to the real part.
 */
import { isComplexVoltage, type VoltageType } from '../core/axes.js';

export interface FrequencyGrid {
  /** Length of the transform. */
  readonly chunkSamples: number;
  readonly bins: number;
  readonly lowestHz: number;
  readonly stepHz: number;
  /** Rising bin j is transform bin (j + shift) mod chunkSamples. */
  readonly shift: number;
  /** The sky frequency that is recorded at zero frequency. */
  readonly zeroHz: number;
}

export interface Band {
  readonly type: VoltageType;
  readonly centreFrequencyHz: number;
  readonly sampleRateHz: number;
}

export const bandwidthHz = ({ type, sampleRateHz }: Band): number =>
  isComplexVoltage(type) ? sampleRateHz : sampleRateHz / 2;

export function frequencyGrid(band: Band, chunkSamples: number): FrequencyGrid {
  const complex = isComplexVoltage(band.type);
  const lowestHz = band.centreFrequencyHz - bandwidthHz(band) / 2;
  return {
    chunkSamples,
    bins: complex ? chunkSamples : chunkSamples / 2,
    lowestHz,
    stepHz: band.sampleRateHz / chunkSamples,
    shift: complex ? chunkSamples / 2 : 0,
    zeroHz: complex ? band.centreFrequencyHz : lowestHz,
  };
}

export const binFrequencyHz = (grid: FrequencyGrid, bin: number): number => grid.lowestHz + bin * grid.stepHz;
