/** Images on a card, for modules that keep data there: the stages and the bench. */
export { channelsAtOnce } from './cuda/plan.js';
export { prepareImageScaler } from './cuda/scale.js';
export { inputFactors, unitFactors } from './direct/direct.js';
export { prepareHalfCeiling } from './direct/cuda/half-ceiling.js';
export { prepareDirectChoice, suitsHalves, touchedCells } from './direct/cuda/choice.js';
export { prepareFolded } from './direct/cuda/folded.js';
export { FOLDED_BOXES, gridBytes } from './direct/cuda/folded-plan.js';
export type { FoldedPrecision } from './direct/cuda/halves/split-halves.js';
export { prepareCudaDirectImager } from './direct/cuda/prepare.js';
export { planSampling } from './direct/cuda/sampling.js';
export { prepareSingle } from './direct/cuda/single.js';
export { prepareCudaVisibilityImager } from './flat/cuda/prepare.js';
export { prepareCudaWideImager } from './wide/cuda/imager.js';
