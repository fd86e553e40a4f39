/** The F-engine on a card, for whoever keeps data there: the planner and the bench. */
export { INPUT_DELAY, writeDelays } from './cuda/tables.js';
export { factorise } from './cuda/factors.js';
export { prepareCudaChanneliser } from './cuda/prepare.js';
