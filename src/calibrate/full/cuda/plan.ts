/** What full-polarisation StEFCal compiles for a card; pure, so that it can be compiled on a machine without one. */
import type { KernelRequest, LaunchShape } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { baselineCount } from '../../../core/axes.js';
import { LEAST_DETERMINANT } from '../plan.js';

/** Where fullJudge's tolerance is written: a float64 among its arguments. */
export const FULL_TOLERANCE = 5;

export const planFull = () =>
  ({
    name: 'stefcal-full.cu',
    source: readSource(import.meta.url, 'stefcal-full.cu'),
    headers: commonHeaders('integers.cuh', 'baselines.cuh'),
    defines: { LEAST_DETERMINANT, SWITCH_BELOW: 2e-6 },
    entries: {
      makeBlocks: ['pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'i32', 'i32'],
      fullStep: [
        ...(['pointer', 'pointer', 'pointer', 'pointer', 'pointer'] as const),
        ...(['i32', 'i32', 'i32'] as const),
      ],
      fullJudge: [
        ...(['pointer', 'pointer', 'pointer', 'pointer', 'pointer'] as const),
        { bytes: 8, align: 8, type: 'double' },
        ...(['i32', 'i32', 'i32', 'i32'] as const),
      ],
    },
  }) as const satisfies KernelRequest;

const MOST_IN_GRID = 65_535;

export const blocksShape = (stations: number, solves: number): LaunchShape => ({
  grid: [Math.ceil(baselineCount(stations) / 128), Math.min(solves, MOST_IN_GRID)],
  threads: 128,
});
export const stepShape = (stations: number, solves: number): LaunchShape => ({
  grid: [stations, Math.min(solves, MOST_IN_GRID)],
  threads: 128,
});
