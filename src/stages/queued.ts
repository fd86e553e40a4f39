/** A slow product does not hold up the others, until so many items wait for it. */
import type { Emit, Stage } from './stage.js';

/**
 * The stage with a queue of at most `most` items before it, the one at work included. The stage must own its items. An
 * error is thrown at the next push, or at the end.
 */
export function queued<In>(stage: Stage<In, unknown>, most: number): Stage<In, unknown> {
  /** Under way, oldest first. */
  const queue: Promise<void>[] = [];
  let failure: { readonly error: unknown } | undefined;
  const add = (item: In, emit: Emit<unknown>): void => {
    const before = queue.at(-1) ?? Promise.resolve();
    const own = before
      .then(() => (failure ? undefined : stage.push(item, emit)))
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => {
        void queue.shift();
      });
    queue.push(own);
  };
  const fewerThan = async (count: number): Promise<void> => {
    while (queue.length >= count) await queue[0];
    if (failure) throw failure.error;
  };
  return {
    push: async (item, emit) => {
      await fewerThan(most);
      add(item, emit);
    },
    flush: async (emit) => {
      await fewerThan(1);
      await stage.flush(emit);
    },
    account: () => stage.account(),
    close: async () => {
      while (queue.length > 0) await queue[0];
      await stage.close();
    },
  };
}
