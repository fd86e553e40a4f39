/** Gains from integrations: what files of visibilities and runs that make integrations share. Loaded when gains are solved. */
export { GainsInForce, type InForceSettings } from './in-force.js';
export { isMisplaced, type OutsideAt } from './outside.js';
export { type GainSettings, type GainsPlan, planGains, type SolvedData } from './plan.js';
export { misfitWords } from './shape.js';
export {
  GainsSolver,
  type NewSolution,
  type SolvedGains,
  type SolvedTime,
  type Solving,
  solveGains,
  solvePlanned,
} from './solve.js';
export type { CalibrationSummary, FullPolarisation } from './summary.js';
export { gainsFileOf, pathsOfGains, writeSolvedGains } from './write.js';
