/**
 * The one place that runs a composition of stages over a source: it hands blocks in, gives them back, reports progress,
 * and closes the stages in any case.
 */
import type { OnProgress } from '../core/progress.js';
import type { KnownLength } from '../core/sources.js';
import { addAccounts, type Account, type Emit, type Stage } from './stage.js';

export interface RunOptions {
  /** Where the source knows it: for the fraction of progress only. */
  readonly samples?: number;
  readonly onProgress?: OnProgress;
  /** Ends the run as if the source had ended, between two blocks. */
  readonly until?: () => boolean;
  /** Stops the run between two blocks and throws the signal's reason: unfinished products are not handed on. */
  readonly stop?: AbortSignal;
}

/** Anything that a source lends. */
interface Lent {
  readonly samples: number;
  release?(): void;
}

/** Runs the stages over all blocks, flushes and closes them; returns the account. */
export async function run<Block extends Lent, Out>(
  blocks: AsyncIterable<Block> | Iterable<Block>,
  stage: Stage<Block, Out>,
  emit: Emit<Out>,
  { samples: of, onProgress, until, stop }: RunOptions = {},
): Promise<Account> {
  try {
    let samples = 0;
    for await (const block of blocks) {
      try {
        await stage.push(block, emit);
        samples += block.samples;
      } finally {
        block.release?.();
      }
      onProgress?.({ done: samples, unit: 'samples', ...(of === undefined ? {} : { of }) });
      stop?.throwIfAborted();
      if (until?.() === true) break;
    }
    await stage.flush(emit);
    return addAccounts(stage.account(), {});
  } finally {
    await stage.close();
  }
}

/** The length of a source that has an end. */
export const lengthOf = (source: Partial<KnownLength>): { readonly samples?: number } =>
  source.samples === undefined ? {} : { samples: source.samples };

/** Stops a run whose consumer is done. */
class EnoughError extends Error {}

/**
 * The same as an iterator: results one after the other, each valid until the next is requested. `onEnd` gets the
 * account; a consumer that stops early ends the run.
 */
export async function* results<Out>(
  start: (emit: Emit<Out>) => Promise<Account>,
  onEnd?: (account: Account) => void,
): AsyncGenerator<Out> {
  let waiting: { readonly item: Out; readonly taken: () => void; readonly enough: () => void } | undefined;
  let wake: () => void = () => undefined;
  const state = { hasEnded: false };
  let failure: { readonly error: unknown } | undefined;
  const running = start(
    (item) =>
      new Promise<void>((taken, reject) => {
        waiting = {
          item,
          taken,
          enough: () => {
            reject(new EnoughError('no more results are wanted'));
          },
        };
        wake();
      }),
  ).then(
    (account) => {
      state.hasEnded = true;
      onEnd?.(account);
      wake();
    },
    (error: unknown) => {
      state.hasEnded = true;
      if (!(error instanceof EnoughError)) failure = { error };
      wake();
    },
  );
  const next = (): typeof waiting => waiting;
  try {
    for (;;) {
      if (!next() && !state.hasEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const one = next();
      if (!one) break;
      yield one.item;
      waiting = undefined;
      one.taken();
    }
  } finally {
    next()?.enough();
    await running;
  }
  if (failure) throw failure.error;
}

/** One item through a stage that makes one of it, without a stream. */
export async function through<In, Out>(stage: Stage<In, Out>, item: In): Promise<Out> {
  const made: Out[] = [];
  const keep = (one: Out): Promise<void> => {
    made.push(one);
    return Promise.resolve();
  };
  await stage.push(item, keep);
  await stage.flush(keep);
  const [only] = made;
  if (made.length !== 1) throw new Error(`one result was expected of a stage, ${made.length} came`);
  return only;
}

/** The same with a stage that is closed afterwards. */
export async function runOne<In, Out>(stage: Stage<In, Out>, item: In): Promise<Out> {
  try {
    return await through(stage, item);
  } finally {
    await stage.close();
  }
}
