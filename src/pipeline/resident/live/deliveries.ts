/** What comes down from a card and is handed on behind the chain's back, in order; what fails is told to the next. */
export class Deliveries {
  /** Under way, oldest first. */
  private readonly queue: Promise<void>[] = [];
  private failure: { readonly error: unknown } | undefined;

  /** Hands on by `work` once all before it is handed on; nothing more after a failure. */
  add(work: () => Promise<void>): void {
    const before = this.queue.at(-1) ?? Promise.resolve();
    const own = before
      .then(() => (this.failure ? undefined : work()))
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => {
        void this.queue.shift();
      });
    this.queue.push(own);
  }

  /** Waits until fewer than `most` are under way, and throws what failed. */
  async room(most: number): Promise<void> {
    while (this.queue.length >= most) await this.queue[0];
    if (this.failure) throw this.failure.error;
  }

  /** All are handed on, or failed. */
  async settled(): Promise<void> {
    while (this.queue.length > 0) await this.queue[0];
  }
}
