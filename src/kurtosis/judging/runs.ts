/**
 * Means over runs of 1, 2, 4 … windows of every channel, each run half of one further on. Most need no look: where every part of a
 * run lies near noise, so does the run.
 */
import type { Cells } from './cells.js';

export interface RunLimits {
  readonly bias: number;
  /** Means nearer to the bias than this stay. */
  readonly leastOffset: number;
  /** Whether a mean of so many inputs' windows, less the bias, is that of noise. */
  readonly isNoise: (mean: number, count: number) => boolean;
}

/** Products and sums of parts round otherwise than quotients of wholes, by far less: so much nearer is near. */
const MARGIN = 1e-9;

/** Takes the windows [first, end) of a channel, and leaves them out of the cells; the mean lies above noise or below. */
type Take = (channel: number, first: number, end: number, mean: number) => void;

export class Runs {
  /** Parts that are not near noise, [part][c], ascending: what is not here need not be looked at. */
  private loud: number[] = [];
  private total = 0;
  private count = 0;

  constructor(
    private readonly channels: number,
    private readonly cells: Cells,
  ) {}

  find(windows: number, limits: RunLimits, take: Take): void {
    this.listen(windows, limits);
    for (const cell of this.loud) this.look(windows, cell, 1, 1, limits, take);
    // Parts of half a run; those of the next runs are two of these.
    for (let part = 1; 2 * part <= windows && this.loud.length > 0; part *= 2) {
      if (part > 1) this.join(windows, part, limits);
      for (const place of this.loud) {
        if (place >= this.channels) this.look(windows, place - this.channels, part, 2 * part, limits, take);
        this.look(windows, place, part, 2 * part, limits, take);
      }
    }
  }

  /** Windows' channels that are not near noise. */
  private listen(windows: number, { bias, leastOffset }: RunLimits): void {
    const { totals, counts } = this.cells;
    const cells = windows * this.channels;
    const near = leastOffset * (1 - MARGIN);
    const loud: number[] = [];
    for (let cell = 0; cell < cells; cell++) {
      const off = Math.abs(totals[cell] - bias * counts[cell]);
      if (!(off <= near * counts[cell])) loud.push(cell);
    }
    this.loud = loud;
  }

  /** From parts of half that length to parts of this. */
  private join(windows: number, length: number, { bias, leastOffset }: RunLimits): void {
    const { channels } = this;
    const near = leastOffset * (1 - MARGIN);
    const joined = new Set<number>();
    for (const half of this.loud) {
      const c = half % channels;
      joined.add(Math.floor((half - c) / channels / 2) * channels + c);
    }
    this.loud = [];
    for (const place of joined) {
      const c = place % channels;
      const first = ((place - c) / channels) * length;
      this.sum(c, first, Math.min(windows, first + length));
      if (!(Math.abs(this.total - bias * this.count) <= near * this.count)) this.loud.push(place);
    }
  }

  /** A run from a part on. */
  private look(
    windows: number,
    place: number,
    part: number,
    run: number,
    { bias, leastOffset, isNoise }: RunLimits,
    take: Take,
  ): void {
    const c = place % this.channels;
    const first = ((place - c) / this.channels) * part;
    const end = Math.min(windows, first + run);
    this.sum(c, first, end);
    if (this.count === 0) return;
    const mean = this.total / this.count - bias;
    if (Math.abs(mean) > leastOffset && !isNoise(mean, this.count)) take(c, first, end, mean);
  }

  private sum(channel: number, first: number, end: number): void {
    const { channels } = this;
    const { totals, counts } = this.cells;
    let total = 0;
    let count = 0;
    for (let w = first, cell = first * channels + channel; w < end; w++, cell += channels) {
      total += totals[cell];
      count += counts[cell];
    }
    this.total = total;
    this.count = count;
  }
}
