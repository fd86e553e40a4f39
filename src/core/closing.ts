/**
 * The one contract for letting go: whatever holds memory, files, threads or a card is closed, and closing is waited for.
 * Who opens several things keeps them in `Closers`, which closes them youngest first, also when something fails half-way.
 */
export interface Closable {
  close(): Promise<void>;
}

/** A close that has nothing to wait for. */
export const closes = (action: () => void) => (): Promise<void> =>
  new Promise((resolve) => {
    action();
    resolve();
  });

/** Of what holds nothing but the heap's memory. */
export const nothingToClose = (): Promise<void> => Promise.resolve();

export class Closers implements Closable {
  private readonly things: Closable[] = [];

  keep<Thing extends Closable>(thing: Thing): Thing {
    this.things.push(thing);
    return thing;
  }

  /**
   * Things that are made side by side, each kept as soon as it is there. Unlike Promise.all this waits for all of them
   * before it fails: nobody is still at work on what is closed next.
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

  /** Closes everything, whatever fails on the way, then says what failed first. Again is safe: there is nothing left. */
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

/** The close of things that belong together, in the order in which they were opened. */
export function closeTogether(...things: readonly Closable[]): () => Promise<void> {
  const closers = new Closers();
  for (const thing of things) closers.keep(thing);
  return () => closers.close();
}

/** Makes something of parts that must be closed; if that fails half-way, the parts there are are closed first. */
export async function preparing<Made>(make: (closers: Closers) => Promise<Made> | Made): Promise<Made> {
  const closers = new Closers();
  try {
    return await make(closers);
  } catch (error) {
    // What went wrong first is the news, not what went wrong on the way out.
    await closers.close().catch(() => undefined);
    throw error;
  }
}

/** Does some work and closes what it kept, whether it worked or not. */
export async function closingAfter<Result>(
  work: (closers: Closers) => Promise<Result> | Result,
): Promise<Result> {
  return preparing(async (closers) => {
    const result = await work(closers);
    await closers.close();
    return result;
  });
}
