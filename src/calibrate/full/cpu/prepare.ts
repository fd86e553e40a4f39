/** Full-polarisation StEFCal in C++ (stefcal_full.cpp): float32 over one half of the pairs, converging to any tolerance. */
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import { prepareNativeSolver } from '../../cpu/prepare.js';
import type { FullBatch, FullSolver } from '../plan.js';

export const prepareCpuFullSolver = (
  { stations }: { readonly stations: number },
  backend: CpuBackend,
): FullSolver =>
  prepareNativeSolver<FullBatch>(
    stations,
    backend,
    {
      open: 'int32_t corella_full_calibrator_open(char *error, void *context, int64_t stations, _Out_ void **calibrator)',
      solve:
        'int32_t corella_full_calibrator_solve(char *error, void *context, void *calibrator, int64_t solves, ' +
        'const double *data, const double *model, const double *weights, double *gains, int64_t most, ' +
        'double tolerance, int32_t *iterationsRun, double *lastChange, double *commonNormal, ' +
        'double *commonVariance)',
    },
    ({ commonNormal, commonVariance }) => [commonNormal, commonVariance],
  );
