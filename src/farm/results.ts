/** Results of a ledger that has everything, as whoever writes a product needs them. */
import type { SpectraRange } from '../compose/index.js';
import type { Ledger } from './ledger.js';
import { jobName } from './job.js';
import type { Result } from './result.js';

/** Counted over all jobs. */
export interface Collected {
  readonly missingSamples: number;
  readonly saturated: number;
  /** Kinds of backends that had a hand in it. */
  readonly backends: readonly string[];
}

/** Results as they are needed, each read once and let go when its time is over. */
export class Results {
  private readonly held = new Map<string, Result>();
  private readonly sum = { missingSamples: 0, saturated: 0 };
  private readonly backends = new Set<string>();
  /** Each counts once, however many products are made of it. */
  private readonly counted = new Set<string>();

  constructor(private readonly ledger: Ledger) {}

  async of(box: SpectraRange): Promise<Result> {
    const name = jobName(box);
    const held = this.held.get(name);
    if (held) return held;
    const result = await this.ledger.read(name);
    this.held.set(name, result);
    if (this.counted.has(name)) return result;
    this.counted.add(name);
    this.sum.missingSamples += result.head.account.missingSamples;
    this.sum.saturated += result.head.account.saturated;
    this.backends.add(result.head.backend);
    return result;
  }

  letGo(boxes: readonly SpectraRange[]): void {
    for (const box of boxes) this.held.delete(jobName(box));
  }

  collected(): Collected {
    return { ...this.sum, backends: [...this.backends].sort() };
  }
}
