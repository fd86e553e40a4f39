/** The visibilities of a few stations over time, for the fringe view. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import type { Telescope } from '../../telescope/telescope.js';
import { meanOf } from '../visibilities.js';

export const MOST_STATIONS = 8;
/** For the cross-correlations; neighbouring channels are averaged to at most this. */
const MOST_CHANNELS = 128;
/** Limit of stored numbers: 256 MiB. */
const MOST_VALUES = 2 ** 26;

export interface FringeFacts {
  readonly telescope: Telescope;
  readonly polarisations: 1 | 2;
  readonly feeds?: 'linear' | 'circular';
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}

export interface FringeRow {
  readonly start: Instant;
  readonly durationS: number;
  /** values : [p][b][group] complex means of the parallel products, b of baselineIndex; NaN without weight. */
  readonly values: Float32Array;
}

export interface FringeSeries extends FringeFacts {
  /** Of the groups of channels. */
  readonly groupsHz: Float64Array;
  readonly groupWidthHz: number;
  readonly rows: readonly FringeRow[];
  /** spectra : [a][c], means of the autocorrelations over time; NaN without weight. */
  readonly spectra: Float64Array;
}

export interface FringeCollector {
  add(one: Integration): void;
  series(): FringeSeries;
}

/** For a live run: only the latest rows are kept, in fewer channels. */
export interface FringeLimits {
  readonly channels: number;
  readonly rows: number;
}

export function fringeCollector(facts: FringeFacts, where: string, latest?: FringeLimits): FringeCollector {
  const { telescope, polarisations, frequenciesHz, channelWidthHz } = facts;
  const stations = telescope.stations.length;
  if (stations < 2 || stations > MOST_STATIONS)
    refuse(
      where,
      `has ${stations} stations, and fringes are shown of two to ${MOST_STATIONS}`,
      stations < 2 ? 'leave out --fringes' : 'choose some antennas with corella convert',
    );
  const baselines = baselineCount(stations);
  const channels = frequenciesHz.length;
  const each = Math.ceil(channels / (latest?.channels ?? MOST_CHANNELS));
  const groups = Math.ceil(channels / each);
  const groupsHz = Float64Array.from({ length: groups }, (_, g) => {
    const members = frequenciesHz.subarray(g * each, (g + 1) * each);
    return members.reduce((sum, one) => sum + one, 0) / members.length;
  });
  const rows: FringeRow[] = [];
  const sums = new Float64Array(stations * polarisations * channels);
  const counts = new Float64Array(sums.length);
  const perRow = 2 * polarisations * baselines * groups;
  return {
    add: (one) => {
      if ((rows.length + 1) * perRow > MOST_VALUES)
        refuse(
          where,
          `has more integrations than fringes are shown of, ${rows.length}`,
          'take a part of the times, or averages, with corella convert',
        );
      const values = new Float32Array(perRow).fill(Number.NaN);
      for (let p = 0; p < polarisations; p++)
        for (let i = 0; i < stations; i++)
          for (let j = 0; j <= i; j++)
            for (let g = 0; g < groups; g++) {
              let [re, im, count] = [0, 0, 0];
              for (let c = g * each; c < Math.min(channels, (g + 1) * each); c++) {
                const cell = c * baselines + baselineIndex(i, j);
                const value = meanOf(one, cell, i * polarisations + p, j * polarisations + p);
                if (!value) continue;
                re += value.re;
                im += value.im;
                count++;
                if (i !== j) continue;
                sums[(i * polarisations + p) * channels + c] += value.re;
                counts[(i * polarisations + p) * channels + c]++;
              }
              if (count === 0) continue;
              const at = 2 * ((p * baselines + baselineIndex(i, j)) * groups + g);
              values[at] = re / count;
              values[at + 1] = im / count;
            }
      rows.push({ start: one.start, durationS: one.durationS, values });
      if (latest && rows.length > latest.rows) rows.shift();
    },
    series: () => ({
      ...facts,
      groupsHz,
      groupWidthHz: channelWidthHz * each,
      rows,
      spectra: sums.map((sum, k) => (counts[k] > 0 ? sum / counts[k] : Number.NaN)),
    }),
  };
}
