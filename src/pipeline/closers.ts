/** What has to be let go again, youngest first, also when something fails half-way. */
export class Closers {
  private readonly actions: (() => void | Promise<void>)[] = [];

  /** Something that closes. */
  keep<Thing extends { close(): void | Promise<void> }>(thing: Thing): Thing {
    this.actions.push(() => thing.close());
    return thing;
  }

  /** Something that is freed. */
  hold<Thing extends { free(): void }>(thing: Thing): Thing {
    this.actions.push(() => {
      thing.free();
    });
    return thing;
  }

  /** Closes everything, whatever fails on the way, then says what failed first. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const action of this.actions.splice(0).reverse()) {
      try {
        await action();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
