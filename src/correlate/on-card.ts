/** The X-engine on a card, for modules that keep data there: the stages and the bench. */
export { prepareXEngine } from './cuda/engine.js';
export {
  chooseHopperVariant,
  hopperVariants,
  type HopperVariantName,
  type XEngineOptions,
} from './cuda/plan.js';
export { prepareCountSpreader } from './cuda/count-spreader.js';
export { prepareLongSums } from './cuda/long-sums.js';
export { prepareCudaCorrelator } from './cuda/prepare.js';
