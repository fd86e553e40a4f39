/** StEFCal on a card, for whoever keeps data there: the resident chain, the planner and the bench. */
export { prepareCudaSolver } from './cuda/prepare.js';
export {
  prepareResidentCalibrator,
  type DeviceCorrelations,
  type ResidentCalibrator,
  type ResidentOptions,
} from './cuda/resident.js';
export { prepareCudaFullSolver } from './full/cuda/prepare.js';
