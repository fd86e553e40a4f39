/** Gains from integrations: shared by visibility files and live integrations. Loaded when gains are solved. */
export { GainsInForce, type InForceSettings } from './in-force.js';
export { isMisplaced, type OutsideAt } from './outside.js';
export { type GainsPlan, planGains } from './plan.js';
export { misfitWords } from './shape.js';
export { GainsSolver, type SolvedGains, solvePlanned } from './solve.js';
export type { CalibrationSummary, FullPolarisation } from './summary.js';
export type { BesideUnpolarised } from './unpolarised.js';
export { gainsFileOf, pathsOfGains, writeSolvedGains } from './write.js';
