/**
 * How many samples each pair of stations had, over the blocks of an integration or an image. A block without gaps counts
 * alike for every pair, so such blocks are one number until the end; those with gaps are counted by presence bits.
 */
import { baselineCount, countsCB, type CountsCB } from './axes.js';
import type { CountShape, SpectraGap } from './gaps.js';
import { SampleCounts, type CountRows } from './presence/sample-counts.js';

export class SampleCounter {
  private total = 0;
  private gapless = 0;
  /** Of blocks with gaps. */
  private readonly gappy: SampleCounts;

  constructor(
    private readonly shape: Omit<CountShape, 'samples'>,
    private readonly flaggedInputs?: Uint8Array,
  ) {
    this.gappy = new SampleCounts(shape);
  }

  /** Samples added so far, missing ones included. */
  get samples(): number {
    return this.total;
  }

  /** Those of blocks without gaps: every pair has them, unless a station is flagged. */
  get gaplessSamples(): number {
    return this.gapless;
  }

  /** Whether every sample was there. */
  get isGapless(): boolean {
    return this.total === this.gapless;
  }

  /** What the blocks with gaps add to those, made when asked for; undefined where there was none. */
  get gappyRows(): CountRows | undefined {
    return this.isGapless ? undefined : this.gappy.rows(this.flaggedInputs);
  }

  add(samples: number, gaps: readonly SpectraGap[]): void {
    if (gaps.length === 0) this.gapless += samples;
    else this.gappy.add(samples, gaps);
    this.total += samples;
  }

  /** counts : [c][b] of all that was added, and a fresh start. A new array unless one is given to be filled. */
  finish(into: CountsCB = this.emptyCounts()): CountsCB {
    if (this.total === this.gapless && this.flaggedInputs?.includes(1) !== true) into.fill(this.gapless);
    else {
      this.gappy.add(this.gapless, []);
      into.fill(0);
      this.gappy.spread(into, this.flaggedInputs);
    }
    this.restart();
    return into;
  }

  /** The same, shortly. */
  finishRows(): CountRows {
    this.gappy.add(this.gapless, []);
    const rows = this.gappy.rows(this.flaggedInputs);
    this.restart();
    return rows;
  }

  /** Forgets what was added. */
  restart(): void {
    this.gappy.clear();
    this.total = 0;
    this.gapless = 0;
  }

  private emptyCounts(): CountsCB {
    const baselines = baselineCount(this.shape.stations);
    return countsCB(new Float64Array(this.shape.channels * baselines), this.shape.channels, baselines);
  }
}
