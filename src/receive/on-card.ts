/** Packets on a card, for whoever keeps data there: the front. */
export { cannotTurn, planTurn } from './cuda/plan.js';
export {
  CELL_BLOCKS,
  prepareCellFront,
  shapeOf,
  SPECTRA_BLOCKS,
  type CellBlock,
  type CellFront,
  type FrontMarks,
} from './cuda/front.js';
