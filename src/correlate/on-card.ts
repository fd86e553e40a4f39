/** The X-engine on a card, for modules that keep data there: the stages and the bench. */
export { prepareXEngine } from './cuda/engine.js';
export {
  chooseHopperVariant,
  hopperVariants,
  type HopperVariantName,
  type XEngineOptions,
} from './cuda/plan.js';
export { prepareCountSpreader, prepareLongSums } from './cuda/integrations.js';
export { prepareCudaCorrelator } from './cuda/prepare.js';
