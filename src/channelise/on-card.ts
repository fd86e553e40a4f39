/** The F-engine on a card, for modules that keep data there: the planner and the bench. */
export { INPUT_DELAY, writeDelays } from './cuda/tables.js';
export { factorise } from './cuda/factors.js';
export { prepareCudaChanneliser } from './cuda/prepare.js';
