/** Interference in channelised voltages, found by spectral kurtosis and taken out before anything is summed. */
import type { Backend } from '../backend/backend.js';
import { cpuPowers } from './cpu/prepare.js';
import { cudaPowers } from './cuda/prepare.js';
import { flaggerOn, type Flagger } from './flagger.js';
import type { KurtosisPlan } from './plan.js';
import { referencePowers } from './reference.js';

export type { Flagger } from './flagger.js';
export type { Judgement } from './judge.js';
export {
  LEAST_SPECTRA,
  planKurtosis,
  USUAL_SIGMAS,
  USUAL_SPECTRA,
  type KurtosisOptions,
  type KurtosisPlan,
  windowEdges,
} from './plan.js';
export { kurtosisMoments, pearsonLimits, type Limits, type PowerShape } from './limits.js';
export { KurtosisTally, type KurtosisAccount, type Episode } from './tally.js';

/** Compiles and allocates a flagger on a backend; close it afterwards. */
export async function prepareFlagger(plan: KurtosisPlan, backend: Backend): Promise<Flagger> {
  switch (backend.kind) {
    case 'reference':
      return flaggerOn(plan, referencePowers(plan));
    case 'cpu':
      return flaggerOn(plan, cpuPowers(plan, backend));
    case 'cuda':
      return flaggerOn(plan, await cudaPowers(plan, backend));
  }
}
