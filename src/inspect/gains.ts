/** Summary of gains: amplitudes, stability over the band, and unsolved inputs. */
import type { Instant } from '../core/instant.js';
import { median } from '../core/median.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { GainsFile } from '../formats/index.js';
import { inputName } from '../telescope/telescope.js';
import { inDb } from './waterfall.js';

export interface GainRow {
  readonly input: number;
  readonly name: string;
  /** Over all channels; undefined if nothing is solved. */
  readonly amplitude?: number;
  /** Relative to the median of all inputs. */
  readonly amplitudeDb?: number;
  /** At the middle channel, if that is solved. */
  readonly phaseDeg?: number;
}

export interface GainLook {
  readonly inputs: readonly GainRow[];
  /** Channels without any solved input. */
  readonly emptyChannels: number;
  /** Solved in every channel except empty ones, and in none. */
  readonly solvedInputs: number;
  readonly unsolved: readonly string[];
  /** Median amplitude of all inputs, and the spread about it in decibels, which contains half of the inputs. */
  readonly amplitude: number;
  readonly spreadDb: number;
}

/** Selects one of several times: the first with any gains. */
export const firstWithGains = (file: GainsFile): GainsFile => ({
  ...file,
  ...[file, ...(file.later ?? [])].find(({ solved }) => solved.includes(1)),
});

export interface GainTimes {
  readonly count: number;
  readonly from: Instant;
  readonly to: Instant;
  /** Number of times at which no input has a gain. */
  readonly without: number;
}

/** For a file of several times; undefined for one. */
export function timesOf(file: GainsFile): GainTimes | undefined {
  if (!file.later || file.later.length === 0) return undefined;
  const series = [file, ...file.later];
  return {
    count: series.length,
    from: file.time,
    to: series[series.length - 1].time,
    without: series.filter(({ solved }) => !solved.includes(1)).length,
  };
}

/** amplitudeDb, phaseDeg : [a][c]; amplitudes relative to the median of all; NaN if unsolved. */
export function gainMatrices({ gains, solved, frequenciesHz }: GainsFile) {
  const channels = frequenciesHz.length;
  const inputs = solved.length / channels;
  const amplitudes = new Float64Array(solved.length).fill(Number.NaN);
  const phaseDeg = new Float64Array(solved.length).fill(Number.NaN);
  for (let c = 0; c < channels; c++) {
    for (let a = 0; a < inputs; a++) {
      const from = c * inputs + a;
      if (solved[from] !== 1) continue;
      const [re, im] = gains.subarray(2 * from, 2 * from + 2);
      amplitudes[a * channels + c] = Math.hypot(re, im);
      phaseDeg[a * channels + c] = Math.atan2(im, re) * DEGREES_PER_RADIAN;
    }
  }
  const middle = median(amplitudes.filter((value) => value > 0));
  return { amplitudes, phaseDeg, middle, amplitudeDb: amplitudes.map((value) => 2 * inDb(value / middle)) };
}

export function lookAtGains(file: GainsFile): GainLook {
  const channels = file.frequenciesHz.length;
  const telescope = { stations: file.stations.map((name) => ({ name, eastM: 0, northM: 0, upM: 0 })) };
  const { amplitudes, phaseDeg, middle } = gainMatrices(file);
  const inputs = Array.from({ length: amplitudes.length / channels }, (_, a): GainRow => {
    const own = amplitudes.subarray(a * channels, (a + 1) * channels).filter((value) => !Number.isNaN(value));
    const phase = phaseDeg[a * channels + Math.floor(channels / 2)];
    const amplitude = median(own);
    return {
      input: a,
      name: inputName(telescope, a, file.polarisations),
      ...(own.length > 0 && { amplitude, amplitudeDb: 2 * inDb(amplitude / middle) }),
      ...(Number.isFinite(phase) && { phaseDeg: phase }),
    };
  });
  const known = inputs.flatMap(({ amplitudeDb }) => (amplitudeDb === undefined ? [] : [amplitudeDb]));
  const isSolved = (a: number, c: number): boolean => !Number.isNaN(amplitudes[a * channels + c]);
  const solvedChannels = Array.from({ length: channels }, (_, c) => c).filter((c) =>
    inputs.some(({ input }) => isSolved(input, c)),
  );
  const solvedInputs = inputs.filter(({ input }) => solvedChannels.every((c) => isSolved(input, c))).length;
  return {
    inputs,
    emptyChannels: channels - solvedChannels.length,
    solvedInputs: solvedChannels.length === 0 ? 0 : solvedInputs,
    unsolved: inputs.flatMap(({ amplitude, name }) => (amplitude === undefined ? [name] : [])),
    amplitude: middle,
    spreadDb: median(known.map(Math.abs)),
  };
}
