/** The kernels of the flagger on a card, the numbers they are compiled with, and their memory. Pure. */
import type { KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import type { PowerCells } from '../../backend/cuda/power-cells.js';
import { cutEvenly, SUMMED_AT_ONCE } from '../../core/windows.js';
import type { KurtosisPlan } from '../plan.js';

const entries = {
  sumPowers: ['pointer', 'i64', 'pointer', 'i32', 'i32', 'pointer'],
  sumCells: ['pointer', 'pointer', 'pointer', 'i32', 'i32', 'i32', 'i32', 'pointer', 'i64', 'pointer'],
  zeroBoxes: ['pointer', 'i64', 'i32', 'pointer', 'i32'],
} as const;

export const planPowerSums = ({ type }: Pick<KurtosisPlan, 'type'>) =>
  ({
    ...kernelSource(import.meta.url, 'kurtosis.cu', 'powers.cuh'),
    defines: { FLOATS: type === 'cf32' ? 1 : 0 },
    entries,
    tables: {
      Box: {
        firstChannel: 0,
        endChannel: 4,
        firstInput: 8,
        endInput: 12,
        firstSample: 16,
        endSample: 20,
        bytes: 24,
      },
    },
  }) satisfies KernelRequest;

const THREADS = 256;
/** Rows of a window in a block of `sumPowers`. */
const SUMS_AT_ONCE = 32;
/** Blocks that a range is divided among: some ranges are a row, some the whole band. */
const PARTS_OF_BOX = 16;

export const sumsLaunch = ({ channels, inputs }: KurtosisPlan, windows: number): LaunchShape => ({
  grid: [Math.max(1, windows * Math.ceil((channels * inputs) / SUMS_AT_ONCE)), 1],
  threads: THREADS,
});

/** Places and inputs that a block of `sumCells` transposes. */
const PLACES_AT_ONCE = 32;
const MOST_ROWS_OF_GRID = 65_535;

export const cellsLaunch = ({ channels, inputs }: KurtosisPlan, windows: number): LaunchShape => ({
  grid: [
    Math.ceil(channels / PLACES_AT_ONCE) * Math.ceil(inputs / PLACES_AT_ONCE),
    Math.min(windows, MOST_ROWS_OF_GRID),
  ],
  threads: THREADS,
});

/** Whether windows are those that powers were summed for. */
export function areWholeCells(edges: Int32Array, samples: number, of: Omit<PowerCells, 'channels'>): boolean {
  const windows = edges.length - 1;
  if (windows * of.perWindow !== of.cells) return false;
  return cutEvenly(samples, windows, SUMMED_AT_ONCE).every((edge, n) => edge === edges[n]);
}

export const zerosLaunch = (boxes: number): LaunchShape => ({
  grid: [Math.max(1, boxes), PARTS_OF_BOX],
  threads: 32,
});

/** sums : [w][c][a][S1, S2] */
export const sumsBytes = ({ channels, inputs }: KurtosisPlan, windows: number): number =>
  16 * windows * channels * inputs;

/** The card waits for the decision, so the host polls for some milliseconds before it sleeps. */
export const EAGER_POLLS = 2000;
