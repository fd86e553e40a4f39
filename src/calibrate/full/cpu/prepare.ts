/** Full-polarisation StEFCal in C++ (stefcal_full.cpp): float32 over one half of the pairs, converging to any tolerance. */
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import { solveArguments } from '../../cpu/prepare.js';
import type { FullSolver } from '../plan.js';

export function prepareCpuFullSolver(
  { stations }: { readonly stations: number },
  { native }: CpuBackend,
): FullSolver {
  const engine = native.open(
    'calibrate',
    `int32_t corella_full_calibrator_open(char *error, void *context, int64_t stations,
      _Out_ void **calibrator)`,
    stations,
  );
  const solve = native.bind(
    'calibrate',
    `int32_t corella_full_calibrator_solve(char *error, void *context, void *calibrator,
      int64_t solves, const double *data, const double *model, const double *weights,
      double *gains, int64_t most, double tolerance, int32_t *iterationsRun /*[solves]*/,
      double *lastChange /*[solves]*/, double *commonNormal, double *commonVariance)`,
  );
  return {
    solve: (batch) =>
      solve(engine.address, ...solveArguments(batch), batch.commonNormal, batch.commonVariance),
    close: () => engine.close(),
  };
}
