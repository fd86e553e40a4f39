/** Full-polarisation StEFCal in C++ (stefcal_full.cpp): float32 at first, float64 for the last digits. */
import type { NativeCall } from '../../../backend/cpu/context.js';
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import type { FullSolver } from '../plan.js';

export function prepareCpuFullSolver(
  { stations }: { readonly stations: number },
  backend: CpuBackend,
): FullSolver {
  const { native } = backend;
  const engine = native.open(
    'calibrate',
    'int32_t corella_full_calibrator_open(char *error, void *context, int64_t stations, _Out_ void **calibrator)',
    stations,
  );
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
    ]
  > = native.bind(
    'calibrate',
    'int32_t corella_full_calibrator_solve(char *error, void *context, void *calibrator, int64_t solves, ' +
      'const double *data, const double *model, const double *weights, double *gains, int64_t most, ' +
      'double tolerance, int32_t *iterationsRun, double *lastChange)',
  );
  return {
    solve: ({ solves, data, model, weights, gains, iterations, iterationsRun, lastChange }) => {
      // No change is below −1: such a solve runs to its end.
      const [most, tolerance] =
        iterations.kind === 'fixed' ? [iterations.count, -1] : [iterations.most, iterations.tolerance];
      return solve(
        ...([engine.address, solves, data, model, weights, gains] as const),
        ...([most, tolerance, iterationsRun, lastChange] as const),
      );
    },
    close: () => engine.close(),
  };
}
