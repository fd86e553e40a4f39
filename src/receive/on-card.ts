/** Packets on a card, for whoever keeps data there: the front. */
export { cannotTurn, planTurn } from './cuda/plan.js';
export { prepareCellFront, shapeOf, SPECTRA_BLOCKS } from './cuda/front.js';
