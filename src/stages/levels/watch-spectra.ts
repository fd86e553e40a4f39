/** Watches rounding in spectra that are not integrated: a part of them is measured, from beginning to end. */
import type { SpectraCAT, SpectraType } from '../../core/axes.js';
import type { SpectraBlock } from '../../core/blocks.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { RoundingWatch, type Rounded } from './watch.js';

/** The first of every so many spectra are measured: a sixteenth of the work, and powers to a sixteenth. */
export const RANGE = 4096;
export const LOOKED_AT = 256;
/** Most channels × inputs: sums of more would take more memory than a block of them, so they are not watched. */
const MOST_CELLS = 2 ** 24;

type Shape = Pick<SpectraBlock['shape'], 'type' | 'channels' | 'inputs'>;

export class SpectraWatch {
  private readonly watch: RoundingWatch | undefined;
  /** Sums and counts of the current time range : [c][a]. */
  private readonly sums: Float64Array;
  private readonly counts: Int32Array;
  /** covered : [c][a], the spectrum up to which gaps were counted. */
  private readonly covered: Int32Array;
  private range = -1;

  constructor(private readonly shape: Shape) {
    const { type, channels, inputs } = shape;
    const isWatched = type !== 'cf32' && channels * inputs <= MOST_CELLS;
    this.watch = isWatched ? new RoundingWatch(type) : undefined;
    this.sums = new Float64Array(isWatched ? channels * inputs : 0);
    this.counts = new Int32Array(this.sums.length);
    this.covered = new Int32Array(this.sums.length);
  }

  /** spectra : [c][a][t] of a block whose first one has this number in the stream. */
  add({ samples, gaps }: Pick<SpectraBlock, 'samples' | 'gaps'>, spectra: SpectraCAT, index: number): void {
    if (!this.watch) return;
    for (let first = 0; first < samples;) {
      const range = Math.floor((index + first) / RANGE);
      const within = index + first - range * RANGE;
      const end = Math.min(samples, first + RANGE - within);
      const looked = Math.min(end, first + LOOKED_AT - within);
      if (range !== this.range) this.close();
      this.range = range;
      if (looked > first) this.look(spectra, samples, gaps, first, looked);
      first = end;
    }
  }

  /** Undefined where nothing is rounded, or there was no signal. */
  found(): Rounded | undefined {
    this.close();
    return this.watch?.found();
  }

  /** Spectra [first, end) of a block. */
  private look(
    spectra: SpectraCAT,
    samples: number,
    gaps: SpectraBlock['gaps'],
    first: number,
    end: number,
  ): void {
    const { sums, counts, covered } = this;
    const { type, inputs } = this.shape;
    for (let row = 0; row < sums.length; row++) {
      sums[row] += powerIn(spectra, type, row * samples + first, row * samples + end);
      counts[row] += end - first;
    }
    // Zeros, which added nothing. Missing spectra may be flagged too: gaps are sorted by their beginnings, and each
    // counts only what is new.
    covered.fill(first);
    for (const gap of gaps.toSorted((x, y) => x.firstSample - y.firstSample)) {
      const gapEnd = Math.min(end, gap.endSample);
      if (gapEnd <= Math.max(first, gap.firstSample)) continue;
      for (let c = gap.firstChannel; c < gap.endChannel; c++)
        for (let a = gap.firstInput; a < gap.endInput; a++) {
          const row = c * inputs + a;
          counts[row] -= Math.max(0, gapEnd - Math.max(gap.firstSample, covered[row]));
          covered[row] = Math.max(covered[row], gapEnd);
        }
    }
  }

  private close(): void {
    if (!this.watch || this.range < 0) return;
    const { sums, counts } = this;
    const { channels, inputs } = this.shape;
    this.watch.add({
      inputs,
      channels,
      isFlagged: () => false,
      power: (a, c) => ({ sum: sums[c * inputs + a], count: counts[c * inputs + a] }),
    });
    sums.fill(0);
    counts.fill(0);
    this.range = -1;
  }
}

/** Σ|x|² of samples [from, to). */
function powerIn(spectra: SpectraCAT, type: SpectraType, from: number, to: number): number {
  let sum = 0;
  if (type === 'ci4') {
    for (let at = from; at < to; at++) sum += highNibble(spectra[at]) ** 2 + lowNibble(spectra[at]) ** 2;
  } else {
    for (let at = 2 * from; at < 2 * to; at++) sum += spectra[at] ** 2;
  }
  return sum;
}
