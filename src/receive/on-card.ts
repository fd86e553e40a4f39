/** Public entry point for packets on a GPU. */
export { cannotTurn, planTurn } from './cuda/plan.js';
export { prepareCellFront, shapeOf, SPECTRA_BLOCKS } from './cuda/front.js';
