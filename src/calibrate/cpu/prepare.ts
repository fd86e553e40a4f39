/** StEFCal in C++: float32 over one half of the pairs, converging to any tolerance. */
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import type { Closable } from '../../core/closing.js';
import type { FullSolver } from '../full/plan.js';
import type { CalibrationPlan, SolveBatch } from '../plan.js';

export interface Solver extends Closable {
  solve(batch: SolveBatch): Promise<void>;
}

/** Of gains (stefcal.cpp). */
export function prepareCpuSolver(
  { stations }: Pick<CalibrationPlan, 'stations'>,
  { native }: CpuBackend,
): Solver {
  const engine = native.open(
    'calibrate',
    'int32_t corella_calibrator_open(char *error, void *context, int64_t stations, _Out_ void **calibrator)',
    stations,
  );
  const solve = native.bind(
    'calibrate',
    `int32_t corella_calibrator_solve(char *error, void *context, void *calibrator, int64_t solves,
      const double *data, const double *model, const double *weights, double *gains,
      int64_t most, double tolerance, int32_t *iterationsRun /*[solves]*/,
      double *lastChange /*[solves]*/)`,
  );
  return {
    solve: (batch) => solve(engine.address, ...solveArguments(batch)),
    close: () => engine.close(),
  };
}

/** Of full polarisation (full/cpu/stefcal_full.cpp). */
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

/** The arguments that solvers of any kind take from a batch, in their order. */
function solveArguments(batch: SolveBatch) {
  const { solves, data, model, weights, gains, iterations, iterationsRun, lastChange } = batch;
  // No change is below −1: such a solve runs all iterations.
  const [most, tolerance] =
    iterations.kind === 'fixed' ? [iterations.count, -1] : [iterations.most, iterations.tolerance];
  return [solves, data, model, weights, gains, most, tolerance, iterationsRun, lastChange] as const;
}
