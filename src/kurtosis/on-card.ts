/** Spectral kurtosis on a card, for whoever plans its memory, shares the card with it or times its kernels. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { multiprocessorsBeside } from './cuda/beside.js';
import { cudaPowers } from './cuda/prepare.js';
import { flaggerOn, type Flagger } from './flagger.js';
import type { KurtosisPlan } from './plan.js';

export { leaving, multiprocessorsBeside } from './cuda/beside.js';
export { flaggerBytes } from './cuda/plan.js';
export { prepareCardSums } from './cuda/sums.js';

/** A flagger that sums on multiprocessors which a filter leaves it: prepare that with `leaving`. */
export const prepareFlaggerBeside = async (plan: KurtosisPlan, backend: CudaBackend): Promise<Flagger> =>
  flaggerOn(
    plan,
    await cudaPowers(plan, backend, { beside: multiprocessorsBeside(plan, backend.session.device) }),
  );
