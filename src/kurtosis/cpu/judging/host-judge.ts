/**
 * Judging beside a card: the event loop launches kernels meanwhile, and several blocks are judged at a time, for threads find too
 * little in one of them.
 */
import { openContext } from '../../../backend/cpu/context.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { Closers, type Closable } from '../../../core/closing.js';
import type { BlockJudge } from '../../flagger.js';
import type { Judgement } from '../../judging/judgement.js';
import type { KurtosisPlan } from '../../plan.js';
import { bindNativeJudge, LimitsOnDemand, type NativeJudge } from './native-judge.js';

const MOST_JUDGES = 4;
/** Of each. */
const MOST_THREADS = 2;

/** Judges in turn; undefined where there is no native library. Close it. */
export function openHostJudge(plan: KurtosisPlan): (BlockJudge & Closable) | undefined {
  const library = loadNative();
  if ('what' in library) return undefined;
  const closers = new Closers();
  const limits = new LimitsOnDemand(plan);
  const judges = Math.min(MOST_JUDGES, library.cores);
  const threads = Math.min(MOST_THREADS, Math.ceil(library.cores / judges));
  const turns = Array.from({ length: judges }, () => {
    const native = closers.keep(openContext(library, { isa: library.best, threads }));
    return inTurn(closers.keep(bindNativeJudge(plan, limits, native, { shares: true })));
  });
  let next = 0;
  return {
    fencing: (edges) => limits.fences.fencing(edges),
    judge: (...given) => turns[next++ % judges](...given),
    close: () => closers.close(),
  };
}

/** One block after the other. */
function inTurn({ aside }: NativeJudge): NativeJudge['aside'] {
  let last: Promise<unknown> = Promise.resolve();
  return (...given) => {
    const judged: Promise<Judgement> = last.then(() => aside(...given));
    last = judged.catch(() => undefined);
    return judged;
  };
}
