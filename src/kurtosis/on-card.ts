/** Spectral kurtosis on a card, for whoever plans its memory or times its kernels. */
export { flaggerBytes } from './cuda/plan.js';
export { prepareCardSums } from './cuda/prepare.js';
