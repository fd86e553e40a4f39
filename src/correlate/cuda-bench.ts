/** What a bench may reach into: the kernel by itself, and its variants. */
export { prepareXEngine, type XEngine } from './cuda-engine.js';
export {
  chooseHopperVariant,
  hopperVariants,
  type HopperVariantName,
  type XEngineOptions,
} from './cuda-plan.js';
