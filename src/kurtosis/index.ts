/** Interference in channelised voltages, found by spectral kurtosis and taken out before anything is summed. */
import type { Backend } from '../backend/backend.js';
import { closeTogether, preparing, type Closable } from '../core/closing.js';
import { openHostJudge } from './cpu/judging/host-judge.js';
import { openNativeJudge } from './cpu/judging/native-judge.js';
import { cpuPowers } from './cpu/prepare.js';
import { cudaPowers } from './cuda/prepare.js';
import { flaggerOn, type BlockJudge, type Flagger, type PowerEngine } from './flagger.js';
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

export interface FlaggerOptions {
  /** Blocks that a card may begin before the first of them is finished; memory is kept for each. One unless told. */
  readonly blocks?: number;
}

/** Compiles and allocates a flagger on a backend; close it afterwards. */
export async function prepareFlagger(
  plan: KurtosisPlan,
  backend: Backend,
  { blocks }: FlaggerOptions = {},
): Promise<Flagger> {
  switch (backend.kind) {
    case 'reference':
      return flaggerOn(plan, referencePowers(plan));
    case 'cpu':
      // Its threads make spectra while a block is judged.
      return judged(plan, cpuPowers(plan, backend), () =>
        openNativeJudge(plan, backend.native, { shares: false }),
      );
    case 'cuda':
      return preparing(async (closers) =>
        judged(plan, closers.keep(await cudaPowers(plan, backend, blocks)), () => openHostJudge(plan)),
      );
  }
}

/** Natively where that can be; means over inputs are always judged in TypeScript. */
function judged(
  plan: KurtosisPlan,
  engine: PowerEngine,
  open: () => (BlockJudge & Closable) | undefined,
): Flagger {
  const judge = plan.over === 'each' ? open() : undefined;
  return judge
    ? flaggerOn(plan, { ...engine, close: closeTogether(engine, judge) }, judge)
    : flaggerOn(plan, engine);
}
