/** Summary of a visibility file: its first values, flags, and bandpass. */
import type { OnProgress } from '../core/progress.js';
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { productCount } from '../core/product-counts.js';
import type { Instant } from '../core/instant.js';
import type { VisibilityFile } from '../formats/index.js';
import type { Complex } from './voltages.js';
import { inDb } from './waterfall.js';

/** Means of one pair and product in the first channels, unphased; null if flagged or missing. */
interface FirstPair {
  readonly stations: readonly [i: number, j: number];
  readonly product: string;
  readonly values: readonly (Complex | null)[];
  /** Which null values are flagged, the others being missing; absent if none is. */
  readonly flagged?: readonly number[];
}

export interface VisibilityLook {
  readonly extent: 'whole' | 'first integration';
  readonly integrations: number;
  /** Start of the first integration. */
  readonly start?: Instant;
  /** Median over the known integrations, including the file's index; the upper of two. */
  readonly durationS?: number;
  /** Present if integrations differ in length. */
  readonly durationRangeS?: readonly [least: number, most: number];
  readonly rows: readonly FirstPair[];
  /** Inputs with rows but without weight in every integration read. */
  readonly flaggedInputs: readonly number[];
  /** Inputs of stations without a row in any integration read. */
  readonly absentInputs: readonly number[];
  /** Values of all pairs and products without weight: flagged or absent. */
  readonly missing: { readonly values: number; readonly fraction: number };
  /** Of those, measured but flagged: their weight does not count. */
  readonly flagged: { readonly values: number; readonly fraction: number };
  /** The smallest and the largest number of samples of a value with weight. */
  readonly counts?: readonly [least: number, most: number];
  readonly frequenciesHz: Float64Array;
  /** Mean autocorrelation of all inputs, or mean amplitude without autocorrelations; 0 dB at its peak. */
  readonly spectrumDb: Float64Array;
}

const FIRST_VALUES = 8;
const FIRST_PAIRS = 3;
/** Values over all integrations: files up to this size are read whole, which takes about a second. */
const WHOLE_VALUES = 2 ** 23;

/** "XX", "RL": product of the polarisations p_i, p_j. */
export const productName = ({ header }: VisibilityFile, pi: number, pj: number): string => {
  const letters = header.feeds === 'circular' ? 'RL' : 'XY';
  return `${letters[pi]}${letters[pj]}`;
};

/** Weight of a product from its file, else from the counts and flags; above 0 is good. */
export function weightOf(one: Integration, cell: number, a1: number, a2: number): number {
  const { polarisations: p, passThrough, flaggedInputs } = one;
  const at = cell * p * p + (a1 % p) * p + (a2 % p);
  if (passThrough) return passThrough.weights[at];
  return flaggedInputs[a1] === 1 || flaggedInputs[a2] === 1 ? 0 : productCount(one, cell, a1 % p, a2 % p);
}

/** Whether a product was measured and is flagged, as opposed to missing. */
export function isFlagged(one: Integration, cell: number, a1: number, a2: number): boolean {
  const { polarisations: p, passThrough, flaggedInputs } = one;
  if (passThrough) return passThrough.weights[cell * p * p + (a1 % p) * p + (a2 % p)] < 0;
  return (flaggedInputs[a1] === 1 || flaggedInputs[a2] === 1) && productCount(one, cell, a1 % p, a2 % p) > 0;
}

/** The absolute value of its weight, flagged or not: 0 if it is missing. */
export function measuredOf(one: Integration, cell: number, a1: number, a2: number): number {
  const { polarisations: p, passThrough } = one;
  return passThrough
    ? Math.abs(passThrough.weights[cell * p * p + (a1 % p) * p + (a2 % p)])
    : productCount(one, cell, a1 % p, a2 % p);
}

/** Mean of a product, undefined if it has no weight. */
export function meanOf(one: Integration, cell: number, a1: number, a2: number): Complex | undefined {
  const { polarisations: p, passThrough } = one;
  if (!(weightOf(one, cell, a1, a2) > 0)) return undefined;
  const at = 2 * (cell * p * p + (a1 % p) * p + (a2 % p));
  if (passThrough) return { re: passThrough.means[at], im: passThrough.means[at + 1] };
  const { visibilities } = one;
  const count = productCount(one, cell, a1 % p, a2 % p);
  return { re: visibilities[at] / count, im: visibilities[at + 1] / count };
}

/** Reads the first integration, or all if they are small or requested. `onFirst` receives the first. */
export async function lookAtVisibilities(
  file: VisibilityFile,
  options: {
    readonly extent?: 'whole';
    readonly onFirst?: (one: Integration) => void;
    /** Receives every integration read. */
    readonly onEach?: (one: Integration) => void;
    /** From 0 to 1. */
    readonly onProgress?: OnProgress;
  } = {},
): Promise<VisibilityLook> {
  const { frequenciesHz, polarisations } = file.header;
  const stations = file.telescope.stations.length;
  const perIntegration = frequenciesHz.length * baselineCount(stations) * polarisations ** 2;
  const everything = options.extent === 'whole' || perIntegration * file.integrationCount <= WHOLE_VALUES;
  let integrations = 0;
  const inputs = inputCensus(stations, polarisations);
  const durationsS: number[] = [];
  let first: Pick<VisibilityLook, 'start' | 'rows' | 'spectrumDb'> = {
    rows: [],
    spectrumDb: frequenciesHz.map(() => Number.NaN),
  };
  let missing = 0;
  let flagged = 0;
  let [least, most] = [Infinity, 0];
  for await (const one of file.integrations('reused')) {
    if (integrations++ === 0) {
      options.onFirst?.(one);
      first = {
        start: one.start,
        rows: firstPairs(file, one),
        spectrumDb: bandOf(one),
      };
    }
    inputs.add(one);
    durationsS.push(one.durationS);
    options.onEach?.(one);
    visitPairs(one, (cell, a1, a2) => {
      const weight = weightOf(one, cell, a1, a2);
      if (!(weight > 0)) {
        missing++;
        if (isFlagged(one, cell, a1, a2)) flagged++;
      } else {
        least = Math.min(least, weight);
        most = Math.max(most, weight);
      }
    });
    if (!everything) break;
    options.onProgress?.({ done: integrations, of: file.integrationCount, unit: 'integrations' });
  }
  return {
    extent: everything ? 'whole' : 'first integration',
    integrations,
    ...first,
    ...durationFacts(file.durationsS ?? durationsS),
    ...inputs.found(),
    missing: {
      values: missing,
      fraction: integrations === 0 ? 1 : missing / (perIntegration * integrations),
    },
    flagged: {
      values: flagged,
      fraction: integrations === 0 ? 0 : flagged / (perIntegration * integrations),
    },
    ...(most > 0 && { counts: [least, most] as const }),
    frequenciesHz,
  };
}

/** Which inputs have rows, and which of them weight, over integrations. */
function inputCensus(stations: number, polarisations: number) {
  const hasRow = new Uint8Array(stations);
  const isGood = new Uint8Array(stations * polarisations);
  const all = [...isGood.keys()];
  return {
    add: ({ pairs, flaggedInputs }: Integration): void => {
      for (let i = 0; i < stations; i++)
        for (let j = 0; j <= i; j++) if (pairs?.[baselineIndex(i, j)] !== 0) hasRow[i] = hasRow[j] = 1;
      flaggedInputs.forEach((flag, a) => {
        if (flag === 0) isGood[a] = 1;
      });
    },
    found: (): Pick<VisibilityLook, 'flaggedInputs' | 'absentInputs'> => {
      const isThere = (a: number): boolean => hasRow[Math.floor(a / polarisations)] === 1;
      return {
        flaggedInputs: all.filter((a) => isThere(a) && isGood[a] === 0),
        absentInputs: all.filter((a) => !isThere(a)),
      };
    },
  };
}

/** Smaller relative differences of durations are rounding. */
const SAME_LENGTH = 1e-6;

function durationFacts(durationsS: ArrayLike<number>): Pick<VisibilityLook, 'durationS' | 'durationRangeS'> {
  const rising = Float64Array.from(durationsS).sort();
  if (rising.length === 0) return {};
  const [least, most] = [rising[0], rising[rising.length - 1]];
  return {
    durationS: rising[Math.floor(rising.length / 2)],
    ...(most - least > SAME_LENGTH * most && { durationRangeS: [least, most] as const }),
  };
}

/** Every pair and product; autocorrelations have all of theirs. */
export function visitPairs(one: Integration, see: (cell: number, a1: number, a2: number) => void): void {
  const { channels, stations, polarisations: p } = one;
  const baselines = baselineCount(stations);
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++)
        for (let pair = 0; pair < p * p; pair++)
          see(c * baselines + baselineIndex(i, j), i * p + Math.floor(pair / p), j * p + (pair % p));
}

/** Every product of the first pairs with any weight, or of the very first if none has. */
function firstPairs(file: VisibilityFile, one: Integration): FirstPair[] {
  const { polarisations: p, channels, stations } = one;
  const baselines = baselineCount(stations);
  const products = (i: number, j: number): FirstPair[] =>
    Array.from({ length: p * p }, (_, pair) => {
      const [pi, pj] = [Math.floor(pair / p), pair % p];
      const values = Array.from(
        { length: Math.min(FIRST_VALUES, channels) },
        (_unused, c) => meanOf(one, c * baselines + baselineIndex(i, j), i * p + pi, j * p + pj) ?? null,
      );
      const flagged = [...values.keys()].filter((c) =>
        isFlagged(one, c * baselines + baselineIndex(i, j), i * p + pi, j * p + pj),
      );
      const product = productName(file, pi, pj);
      return { stations: [i, j], product, values, ...(flagged.length > 0 && { flagged }) };
    });
  const rows: FirstPair[] = [];
  for (let i = 0; i < stations && rows.length < FIRST_PAIRS * p * p; i++) {
    for (let j = 0; j <= i && rows.length < FIRST_PAIRS * p * p; j++) {
      const found = products(i, j);
      if (found.some(({ values }) => values.some((value) => value !== null))) rows.push(...found);
    }
  }
  return rows.length === 0 ? products(0, 0) : rows;
}

/** Mean over stations and both polarisations in each channel, in dB relative to the peak. */
function bandOf(one: Integration): Float64Array {
  const { channels, stations, polarisations: p } = one;
  const baselines = baselineCount(stations);
  const mean = (pairs: 'autocorrelations' | 'all pairs'): Float64Array =>
    Float64Array.from({ length: channels }, (_, c) => {
      let sum = 0;
      let count = 0;
      for (let i = 0; i < stations; i++)
        for (let j = pairs === 'all pairs' ? 0 : i; j <= i; j++)
          for (let pol = 0; pol < p; pol++) {
            const value = meanOf(one, c * baselines + baselineIndex(i, j), i * p + pol, j * p + pol);
            if (!value) continue;
            sum += Math.hypot(value.re, value.im);
            count++;
          }
      return count === 0 ? Number.NaN : sum / count;
    });
  const autos = mean('autocorrelations');
  const power = autos.some((value) => value > 0) ? autos : mean('all pairs');
  const most = power.reduce((x, y) => (y > x ? y : x), 0);
  return power.map((value) => inDb(value / most));
}
