/** StEFCal in C++ (stefcal.cpp): float32 over one Hermitian half, converging to any tolerance. */
import type { NativeCall } from '../../backend/cpu/context.js';
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import type { Closable } from '../../core/closing.js';
import type { CalibrationPlan, SolveBatch, SolveKernel } from '../plan.js';

export interface Solver extends Closable {
  readonly solve: SolveKernel;
}

export const prepareCpuSolver = (
  { stations }: Pick<CalibrationPlan, 'stations'>,
  backend: CpuBackend,
): Solver =>
  prepareNativeSolver<SolveBatch>(
    stations,
    backend,
    {
      open: 'int32_t corella_calibrator_open(char *error, void *context, int64_t stations, _Out_ void **calibrator)',
      solve:
        'int32_t corella_calibrator_solve(char *error, void *context, void *calibrator, int64_t solves, ' +
        'const double *data, const double *model, const double *weights, double *gains, int64_t most, ' +
        'double tolerance, int32_t *iterationsRun, double *lastChange)',
    },
    () => [],
  );

/** A solver of any kind by its two functions, whose words are alike; `more` is what this kind's batch holds besides. */
export function prepareNativeSolver<Batch extends SolveBatch>(
  stations: number,
  { native }: CpuBackend,
  prototypes: { readonly open: string; readonly solve: string },
  more: (batch: Batch) => Float64Array[],
): Closable & { readonly solve: (batch: Batch) => Promise<void> } {
  const engine = native.open('calibrate', prototypes.open, stations);
  const solve: NativeCall<
    [
      calibrator: bigint,
      solves: number,
      data: Float64Array,
      model: Float64Array,
      weights: Float64Array,
      gains: Float64Array,
      most: number,
      tolerance: number,
      iterationsRun: Int32Array,
      lastChange: Float64Array,
      ...more: Float64Array[],
    ]
  > = native.bind('calibrate', prototypes.solve);
  return {
    solve: (batch) => {
      const { solves, data, model, weights, gains, iterations, iterationsRun, lastChange } = batch;
      // No change is below −1: such a solve runs to its end.
      const [most, tolerance] =
        iterations.kind === 'fixed' ? [iterations.count, -1] : [iterations.most, iterations.tolerance];
      return solve(
        ...([engine.address, solves, data, model, weights, gains] as const),
        ...([most, tolerance, iterationsRun, lastChange] as const),
        ...more(batch),
      );
    },
    close: () => engine.close(),
  };
}
