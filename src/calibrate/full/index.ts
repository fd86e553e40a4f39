/** Full polarisation: visibilities with their cross hands and a model in, a matrix of 2 × 2 for each station out. */
import type { Backend } from '../../backend/backend.js';
import { nothingToClose, type Closable } from '../../core/closing.js';
import type { CalibrationPlan } from '../plan.js';
import { prepareCpuFullSolver } from './cpu/prepare.js';
import { prepareCudaFullSolver } from './cuda/prepare.js';
import type { FullSolver } from './plan.js';
import { solveFullReference } from './reference.js';
import { solveFull, type FullCalibration, type FullInput } from './solve.js';

export interface FullCalibrator extends Closable {
  readonly plan: CalibrationPlan;
  solve(input: FullInput): Promise<FullCalibration>;
}

/** Compiles and allocates a solver of full polarisation on a backend; close it afterwards. */
export async function prepareFullCalibrator(
  plan: CalibrationPlan,
  backend: Backend,
): Promise<FullCalibrator> {
  const solver = await prepareFullSolver({ stations: plan.stations, solves: plan.channels }, backend);
  return {
    plan,
    solve: (input) => solveFull(plan, solver, input),
    close: () => solver.close(),
  };
}

/** Only the kernel, for callers with a batch. */
export async function prepareFullSolver(
  plan: { readonly stations: number; readonly solves: number },
  backend: Backend,
): Promise<FullSolver> {
  switch (backend.kind) {
    case 'reference':
      return { solve: solveFullReference, close: nothingToClose };
    case 'cpu':
      return prepareCpuFullSolver(plan, backend);
    case 'cuda':
      return prepareCudaFullSolver(plan, backend);
  }
}
