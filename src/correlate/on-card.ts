/** The X-engine on a card, for whoever keeps data there: the stages and the bench. */
export { prepareXEngine, type XEngine } from './cuda/engine.js';
export {
  chooseHopperVariant,
  hopperVariants,
  type HopperVariantName,
  type XEngineOptions,
} from './cuda/plan.js';
export { prepareCountSpreader, type CountSpreader } from './cuda/count-spreader.js';
export { prepareLongSums, type LongSums } from './cuda/long-sums.js';
export { prepareCudaCorrelator, type CudaCorrelator } from './cuda/prepare.js';
