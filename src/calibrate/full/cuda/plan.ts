/**
 * What is compiled for full-polarisation StEFCal on a card; pure, so that it can be compiled on a machine without one.
 */
import { structure } from '../../../backend/cuda/arguments.js';
import type { KernelRequest, LaunchShape } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { baselineCount } from '../../../core/axes.js';
import { FORGET_ABOVE, LEAST_OWN, MIX_BELOW, MIXED_STEPS } from '../accelerate.js';
import {
  FIT_AGAIN_ABOVE,
  FIT_AGAIN_AFTER,
  FIT_BELOW,
  LATE_BELOW,
  LEAST_CURVATURE,
  LONGEST_AMENDS,
  MOST_ERROR_RAD,
  MOST_TOLERANCES,
} from '../common.js';
import { LEAST_DETERMINANT, type ModelForm } from '../plan.js';

/**
 * The sums of full-common.cu for a solve: rows : [4][4] complex, pairs likewise, right : 8, squares, numbers, stations.
 */
export const COMMON_SUMS = 75;

const two = ['pointer', 'pointer'] as const;
const five = [...two, ...two, 'pointer'] as const;

export const planFullStep = () =>
  ({
    name: 'stefcal-full.cu',
    source: readSource(import.meta.url, 'stefcal-full.cu'),
    headers: commonHeaders('integers.cuh', 'baselines.cuh'),
    defines: { LEAST_DETERMINANT },
    entries: {
      makePairs: [...five, 'i32', 'i32', 'i32'],
      fullStep: [...five, ...two, 'i32', 'i32', 'i32'],
    },
  }) as const satisfies KernelRequest;

/** struct MixWork of full-mix.cu. */
export const MIX_WORK = {
  gains: 0,
  next: 8,
  history: 16,
  lasts: 24,
  states: 32,
  done: 40,
  exact: 48,
  iterations: 56,
  changes: 64,
  sums: 72,
  scales: 80,
  units: 88,
  tolerance: 96,
  stations: 104,
  most: 108,
  form: 112,
  unused: 116,
  bytes: 120,
} as const;
const AFTER_GRAM = 8 + 8 * MIXED_STEPS ** 2;
/** struct MixState of full-mix.cu. */
export const MIX_STATE = {
  leastChange: 0,
  gram: 8,
  amends: AFTER_GRAM,
  amended: AFTER_GRAM + 512,
  count: AFTER_GRAM + 520,
  newest: AFTER_GRAM + 524,
  hasLast: AFTER_GRAM + 528,
  fitted: AFTER_GRAM + 532,
  fits: AFTER_GRAM + 536,
  late: AFTER_GRAM + 540,
  bytes: AFTER_GRAM + 544,
} as const;
/** Larger than any change: no history yet. */
export const FAR = 1e300;
export const MIX_THREADS = 512;
/** Why a solve is done (full-mix.cuh): its change is below the tolerance; or its correction is to be fitted. */
const SETTLED = 2;
const PAUSED = 3;

export const mixHeaders = () => ({ 'full-mix.cuh': readSource(import.meta.url, 'full-mix.cuh') });
export const mixDefines = (THREADS: number) => ({
  THREADS,
  MIXED_STEPS,
  MIX_BELOW,
  FORGET_ABOVE,
  LEAST_OWN,
  FAR,
  FIT_BELOW_0: FIT_BELOW[0],
  FIT_BELOW_1: FIT_BELOW[1],
  FIT_AGAIN_ABOVE,
  FIT_AGAIN_AFTER,
  LATE_BELOW,
  LONGEST_AMENDS,
  SWITCH_BELOW: 2e-6,
});

export const planFullMix = () =>
  ({
    name: 'full-mix.cu',
    source: readSource(import.meta.url, 'full-mix.cu'),
    headers: { ...commonHeaders('integers.cuh'), ...mixHeaders() },
    defines: mixDefines(MIX_THREADS),
    entries: {
      fullMix: [structure('MixWork', MIX_WORK)],
      fullResume: [...five, ...two, 'i32', 'i32'],
    },
    tables: { MixState: MIX_STATE },
  }) as const satisfies KernelRequest;

export const planFullCommon = () =>
  ({
    name: 'full-common.cu',
    source: readSource(import.meta.url, 'full-common.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { COMMON_SUMS },
    entries: {
      commonRows: [...five, ...two, 'pointer', 'i32', 'i32'],
      commonTotals: [...two, 'i32'],
    },
  }) as const satisfies KernelRequest;

/** struct FitWork of full-fit.cu. */
export const FIT_WORK = {
  totals: 0,
  normals: 8,
  variances: 16,
  turns: 24,
  amends: 32,
  changes: 40,
  done: 48,
  iterations: 56,
  how: 64,
  tolerance: 72,
  most: 80,
  unused: 84,
  bytes: 88,
} as const;

export const planFullFit = () =>
  ({
    name: 'full-fit.cu',
    source: readSource(import.meta.url, 'full-fit.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { COMMON_SUMS, LEAST_CURVATURE, MOST_ERROR_RAD, MOST_TOLERANCES, SETTLED, PAUSED },
    entries: { fullFit: [structure('FitWork', FIT_WORK)] },
  }) as const satisfies KernelRequest;

export const planFullSizes = () =>
  ({
    name: 'full-sizes.cu',
    source: readSource(import.meta.url, 'full-sizes.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: {
      largestOf: [...five, 'i32', 'i32'],
      scaleSolves: [...five, 'i32'],
    },
  }) as const satisfies KernelRequest;

const MOST_IN_GRID = 65_535;
/** Numbers of a pair, and how many of them a row holds: columns are padded to whole vectors of four. */
export const PAIR_NUMBERS = [9, 12, 16] as const satisfies Record<ModelForm, number>;
export const pairBytes = (stations: number, form: ModelForm): number =>
  4 * PAIR_NUMBERS[form] * stations * 4 * Math.ceil(stations / 4);

export const pairsShape = (stations: number, solves: number): LaunchShape => ({
  grid: [Math.ceil(baselineCount(stations) / 128), Math.min(solves, MOST_IN_GRID)],
  threads: 128,
});
/** 16 baselines to a thread. */
export const sizesShape = (stations: number, solves: number): LaunchShape => ({
  grid: [Math.ceil(baselineCount(stations) / 4096), Math.min(solves, MOST_IN_GRID)],
  threads: 256,
});
/** A row of stations to a block. */
export const rowsShape = (stations: number, solves: number): LaunchShape => ({
  grid: [stations, Math.min(solves, MOST_IN_GRID)],
  threads: 128,
});
