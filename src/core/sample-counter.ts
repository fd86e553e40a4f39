/**
 * How many samples each pair of stations had, over the blocks of an integration or an image. A block without gaps counts
 * alike for every pair, so such blocks are one number until the end; only blocks with gaps are counted pair by pair.
 */
import { baselineCount, countsCB, type CountsCB } from './axes.js';
import { addSampleCounts, type CountShape, type SpectraGap } from './gaps.js';

export class SampleCounter {
  private total = 0;
  private gapless = 0;
  private hadGaps = false;
  /** Made with the first gap and kept. */
  private partial: CountsCB | undefined;
  private readonly flaggedInputs: Uint8Array;

  constructor(
    private readonly shape: Omit<CountShape, 'samples'>,
    flaggedInputs?: Uint8Array,
  ) {
    this.flaggedInputs = flaggedInputs ?? new Uint8Array(shape.stations * shape.polarisations);
  }

  /** Samples added so far, missing ones included. */
  get samples(): number {
    return this.total;
  }

  /** Those of blocks without gaps: every pair has them, unless a station is flagged. */
  get gaplessSamples(): number {
    return this.gapless;
  }

  /** counts : [c][b], what the blocks with gaps add to those; undefined where there was none. Valid until a fresh start. */
  get gappyCounts(): CountsCB | undefined {
    return this.hadGaps ? this.partial : undefined;
  }

  add(samples: number, gaps: readonly SpectraGap[]): void {
    if (gaps.length === 0) this.gapless += samples;
    else {
      this.partial ??= this.emptyCounts();
      this.hadGaps = true;
      addSampleCounts(this.partial, { ...this.shape, samples }, gaps, this.flaggedInputs);
    }
    this.total += samples;
  }

  /** counts : [c][b] of all that was added, and a fresh start. A new array unless one is given to be filled. */
  finish(into: CountsCB = this.emptyCounts()): CountsCB {
    const { gapless, gappyCounts, flaggedInputs } = this;
    if (!gappyCounts && !flaggedInputs.includes(1)) into.fill(gapless);
    else {
      if (gappyCounts) into.set(gappyCounts);
      else into.fill(0);
      addSampleCounts(into, { ...this.shape, samples: gapless }, [], flaggedInputs);
    }
    this.restart();
    return into;
  }

  /** Forgets what was added. */
  restart(): void {
    if (this.hadGaps) this.partial?.fill(0);
    this.total = 0;
    this.gapless = 0;
    this.hadGaps = false;
  }

  private emptyCounts(): CountsCB {
    const baselines = baselineCount(this.shape.stations);
    return countsCB(new Float64Array(this.shape.channels * baselines), this.shape.channels, baselines);
  }
}
