/** StEFCal on a card, for the bench. */
export { prepareCudaSolver } from './cuda/prepare.js';
export { prepareCudaFullSolver } from './full/cuda/prepare.js';
