/**
 * The one contract for release: an object that holds memory, files, threads or a GPU is closed, and the caller awaits
 * the close. Code that opens several objects keeps them in `Closers`, which closes the youngest first, also after an
 * error.
 */
export interface Closable {
  close(): Promise<void>;
}

/** A close without anything to wait for. */
export const closes = (action: () => void) => (): Promise<void> =>
  new Promise((resolve) => {
    action();
    resolve();
  });

/** For objects that hold heap memory only. */
export const nothingToClose = (): Promise<void> => Promise.resolve();

export class Closers implements Closable {
  private readonly things: Closable[] = [];

  keep<Thing extends Closable>(thing: Thing): Thing {
    this.things.push(thing);
    return thing;
  }

  /**
   * Makes objects concurrently and keeps each as soon as it exists. Unlike Promise.all, this waits for all of them
   * before it fails, so that nothing is still in use when it is closed.
   */
  async keepAll<Things extends readonly Closable[]>(making: {
    readonly [Index in keyof Things]: Promise<Things[Index]>;
  }): Promise<Things> {
    const outcomes = await Promise.allSettled(making);
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') this.keep(outcome.value);
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    }) as unknown as Things;
  }

  /** Closes everything, even after errors, then throws the first error. A second call does nothing. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const thing of this.things.splice(0).reverse()) {
      try {
        await thing.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Closes objects in the reverse of the order in which they were opened. */
export function closeAll(...things: readonly Closable[]): () => Promise<void> {
  const closers = new Closers();
  for (const thing of things) closers.keep(thing);
  return () => closers.close();
}

/** Makes an object from parts that must be closed; on failure, closes the parts made so far first. */
export async function preparing<Made>(make: (closers: Closers) => Promise<Made> | Made): Promise<Made> {
  const closers = new Closers();
  try {
    return await make(closers);
  } catch (error) {
    // The first error is reported, not an error from closing.
    await closers.close().catch(() => undefined);
    throw error;
  }
}

/** Does some work and closes what it kept, whether the work succeeded or failed. */
export async function closingAfter<Result>(
  work: (closers: Closers) => Promise<Result> | Result,
): Promise<Result> {
  return preparing(async (closers) => {
    const result = await work(closers);
    await closers.close();
    return result;
  });
}
