/** Several runs in step: each hands over its part, and all continue when the whole has been handled. */
import type { Emit } from '../stage.js';
import { refuse } from '../../core/errors.js';
import type { ChannelRange } from '../select-channels.js';

export class JointParts<Part> {
  private slots: (Part | undefined)[];
  private waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  private readonly failed = new AbortController();

  constructor(
    private readonly count: number,
    private readonly take: (parts: readonly Part[]) => Promise<void>,
  ) {
    this.slots = new Array<Part | undefined>(count).fill(undefined);
  }

  /** Aborted when one run has failed: the others end. */
  get signal(): AbortSignal {
    return this.failed.signal;
  }

  emit(k: number): Emit<Part> {
    return (part) =>
      new Promise<void>((resolve, reject) => {
        if (this.failed.signal.aborted) {
          reject(this.failed.signal.reason as Error);
          return;
        }
        this.slots[k] = part;
        this.waiting.push({ resolve, reject });
        if (this.waiting.length < this.count) return;
        const [parts, waiting] = [this.slots as Part[], this.waiting];
        this.slots = new Array<Part | undefined>(this.count).fill(undefined);
        this.waiting = [];
        this.take(parts).then(
          () => {
            for (const one of waiting) one.resolve();
          },
          (error: unknown) => {
            for (const one of waiting) one.reject(error);
          },
        );
      });
  }

  /** Waits for all to end; all fail with the first failure, and none is left waiting. */
  async all<Result>(runs: readonly Promise<Result>[]): Promise<Result[]> {
    const watched = runs.map((one) =>
      one.catch((error: unknown) => {
        this.failed.abort(error);
        for (const { reject } of this.waiting.splice(0)) reject(error);
        throw error;
      }),
    );
    const settled = await Promise.allSettled(watched);
    if (this.failed.signal.aborted) throw this.failed.signal.reason;
    if (this.waiting.length > 0) throw new Error('the cards did not make as many integrations');
    return settled.map((one) => (one as PromiseFulfilledResult<Result>).value);
  }
}

export function channelRanges(channels: number, cards: number): ChannelRange[] {
  if (cards > channels)
    refuse(
      'machine.cards',
      `${cards} cards for ${channels} channels`,
      `name at most ${channels}, or make more channels`,
    );
  const at = (k: number): number => Math.round((channels * k) / cards);
  return Array.from({ length: cards }, (_, k) => ({ first: at(k), end: at(k + 1) }));
}
