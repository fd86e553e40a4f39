/** Spectral kurtosis on a card, for whoever plans its memory. */
export { flaggerBytes } from './cuda/plan.js';
