/** Items from whoever makes them to whoever iterates over them, one at a time: the next is made when the last is done with. */
export class Handover<Item> {
  private readonly waiting: { readonly item: Item; readonly done: () => void }[] = [];
  private wake: () => void = () => undefined;
  private state: 'open' | 'ended' | 'left' = 'open';
  private failure: unknown;

  /** Resolves when the item has been used; at once after the loop over them was left. */
  offer(item: Item): Promise<void> {
    if (this.state === 'left') return Promise.resolve();
    return new Promise((done) => {
      this.waiting.push({ item, done });
      this.wake();
    });
  }

  /** No item follows. */
  end(failure?: unknown): void {
    if (this.state === 'open') this.state = 'ended';
    this.failure = failure;
    this.wake();
  }

  /** `onLeave` is called where the loop is left before the last item. */
  async *items(onLeave: () => void): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        const next = this.waiting.shift();
        if (next)
          try {
            yield next.item;
          } finally {
            next.done();
          }
        else if (this.state === 'open') await new Promise<void>((resolve) => (this.wake = resolve));
        else break;
      }
    } finally {
      if (this.state === 'open') onLeave();
      this.state = 'left';
      for (const { done } of this.waiting.splice(0)) done();
    }
    if (this.failure !== undefined) throw this.failure as Error;
  }
}
