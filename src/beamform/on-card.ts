/** The beamformer on a card, for code that keeps data there: the bench. */
export { prepareCudaBeamformer, type CudaBeamformer } from './cuda/prepare.js';
