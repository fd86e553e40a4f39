/** Calibrate: visibilities and a model of the sky in, each antenna's complex gain out (StEFCal). */
import type { Backend } from '../backend/backend.js';
import { nothingToClose, type Closable } from '../core/closing.js';
import { prepareCpuFullSolver, prepareCpuSolver, type Solver } from './cpu/prepare.js';
import { prepareCudaSolver } from './cuda/prepare.js';
import { prepareCudaFullSolver } from './full/cuda/prepare.js';
import type { FullSolver } from './full/plan.js';
import { solveFullReference } from './full/reference.js';
import { solveFull, type FullCalibration, type FullInput } from './full/solve.js';
import type { CalibrationPlan } from './plan.js';
import { solveReference } from './reference.js';
import type { CalibrationInput } from './batch.js';
import { solveCalibration, type Calibration } from './solve.js';

export { planCalibration } from './plan.js';
export type { CalibrationOptions, CalibrationPlan, IterationRule, SolveBatch, SolveKernel } from './plan.js';
export type { CalibrationInput } from './batch.js';
export type { LeftOut, LeftOutReason } from './left-out.js';
export type { Calibration, Solution } from './solve.js';
export { leaveOutUnconverged, residualsOf, unconverged } from './solve.js';
export {
  crossHandFrom,
  isBelievable,
  withCrossHand,
  withKnownCrossHand,
  type CrossHand,
  type CrossHanded,
  type CrossHandFit,
  type CrossHandHow,
  type CrossHandRule,
  type PolarisationFrame,
} from './cross-hand.js';
export {
  modelVisibilities,
  type BeamVoltages,
  type GaussianAxes,
  type ModelComponent,
  type ModelOptions,
} from './model.js';
export type { Solver } from './cpu/prepare.js';
export { compareGains, type GainComparison } from './compare.js';
export type { FullBatch, FullSolver } from './full/plan.js';
export type { FullCalibration, FullInput } from './full/solve.js';
export { fullModelVisibilities } from './full/model.js';

export interface Calibrator extends Closable {
  readonly plan: CalibrationPlan;
  solve(input: CalibrationInput): Promise<Calibration>;
}

/** Compiles and allocates a solver on a backend; close it afterwards. */
export async function prepareCalibrator(plan: CalibrationPlan, backend: Backend): Promise<Calibrator> {
  const solver = await prepareSolver(plan, backend);
  return {
    plan,
    solve: (input) => solveCalibration(plan, (batch) => solver.solve(batch), input),
    close: () => solver.close(),
  };
}

/** Only the kernel, for callers with a batch. */
export async function prepareSolver(
  plan: Pick<CalibrationPlan, 'stations' | 'solves' | 'iterations'>,
  backend: Backend,
): Promise<Solver> {
  switch (backend.kind) {
    case 'reference':
      return { solve: solveReference, close: nothingToClose };
    case 'cpu':
      return prepareCpuSolver(plan, backend);
    case 'cuda':
      return prepareCudaSolver(plan, backend);
  }
}

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
