/** Interference in channelised voltages, found by spectral kurtosis and removed before anything is summed. */
import type { Backend } from '../backend/backend.js';
import { preparing } from '../core/closing.js';
import { nativeDecide, openHostDecide } from './cpu/decide.js';
import { cpuPowers } from './cpu/prepare.js';
import { cudaPowers } from './cuda/prepare.js';
import { decide } from './decide.js';
import { flaggerOn, type Decide, type Flagger } from './flagger.js';
import type { KurtosisPlan } from './plan.js';
import { referencePowers } from './reference.js';

export type { Flagger } from './flagger.js';
export { Decision } from './decision.js';
export {
  LEAST_SPECTRA,
  planKurtosis,
  USUAL_SIGMAS,
  USUAL_SPECTRA,
  type KurtosisOptions,
  type KurtosisPlan,
} from './plan.js';
export { KurtosisTally, type KurtosisAccount, type Episode } from './tally.js';

/** Compiles and allocates a flagger on a backend; close it. A card may begin so many blocks before the first is finished. */
export async function prepareFlagger(
  plan: KurtosisPlan,
  backend: Backend,
  { blocks = 1 }: { readonly blocks?: number } = {},
): Promise<Flagger> {
  const plainly: Decide = (...given) => {
    decide(plan, ...given);
  };
  switch (backend.kind) {
    case 'reference':
      return flaggerOn(plan, referencePowers(plan), plainly);
    case 'cpu':
      // Its threads make spectra meanwhile.
      return flaggerOn(plan, cpuPowers(plan, backend), nativeDecide(plan, backend.native, { shares: false }));
    case 'cuda':
      return preparing(async (closers) => {
        const engine = closers.keep(await cudaPowers(plan, backend, blocks));
        const host = openHostDecide(plan);
        if (host) closers.keep(host);
        return flaggerOn(plan, { ...engine, close: () => closers.close() }, host?.decide ?? plainly);
      });
  }
}
