/**
 * What is too weak to show in one window of one input, and is heard by many inputs, stays for long, or is in all channels:
 * kurtoses of noise have a mean of 1, the closer the more of them there are. Only windows that nobody took are looked at.
 */
import { countOf } from './judging/bits.js';
import { Cells, type JudgedBlock } from './judging/cells.js';
import { bookOfMeans, crowdOf, inputsOfStep } from './judging/crowds.js';
import { Middle, nowhere } from './judging/middle.js';
import { octavesOf } from './judging/octaves.js';
import { Runs } from './judging/runs.js';
import { kurtosisMoments, type Limits } from './limits.js';
import type { Offences } from './offences.js';
import type { KurtosisPlan, LimitBook } from './plan.js';
import { ABOVE, BELOW, TOGETHER } from './verdicts.js';

/**
 * However many they are, noise that is not quite Gaussian (few bits, a receiver's own compression) must not be taken: a mean
 * nearer to 1 than this stays. A carrier of −6 dB has 0.96.
 */
const LEAST_OFFSET = 0.04;
/** The same of all channels, where too few windows tell what is usual. */
const LEAST_OFFSET_OF_FEW = 0.1;
/** What is usual can be said of so many channels and of so many windows' channels. */
const LEAST_CHANNELS = 8;
const LEAST_CELLS = 32;
const LEAST_WINDOWS = 8;
/** Neighbouring channels overlap, and their noise is partly the same. */
const CHANNELS_ALIKE = 1.5;

/** What noise is like here: its mean less 1, and the variance of means over inputs, over that of independent ones. */
interface Usual {
  readonly bias: number;
  readonly inflation: number;
}

export class Together {
  private readonly book: LimitBook;
  /** By the step of a count; of the length at hand. */
  private limits: (Limits | undefined)[] = [];
  private readonly crowds: (number | undefined)[] = [];
  private length = 0;
  /** Of one input's kurtosis. */
  private variance = 0;
  /** roots : [count], √count/σ. */
  private readonly roots: Float64Array;
  private readonly cells: Cells;
  private means = new Float64Array(0);
  private readonly middle = new Middle();
  private readonly near = { mean: nowhere(), spread: nowhere() };
  private readonly runs: Runs;

  constructor(
    private readonly plan: KurtosisPlan,
    private readonly offences: Offences,
  ) {
    this.cells = new Cells(plan, offences);
    this.runs = new Runs(plan.channels, this.cells);
    this.roots = new Float64Array(this.cells.inputsAsked + 1);
    this.book = bookOfMeans(plan.sigmas);
  }

  /** Windows that are louder in all channels together; channels that are not noise go into the offences. */
  judge(block: JudgedBlock): readonly number[] {
    const { channels, realChannels } = this.plan;
    const { edges } = block;
    const windows = edges.length - 1;
    if (channels - realChannels < LEAST_CHANNELS || windows * channels < LEAST_CELLS) return [];
    // Windows are alike to four spectra: limits of the shortest hold for all.
    let length = Infinity;
    for (let w = 0; w < windows; w++) length = Math.min(length, edges[w + 1] - edges[w]);
    if (length !== this.length) this.setLength(length);
    this.cells.add(block);
    const usual = this.usualOf(windows * channels);
    if (!usual) return [];
    const bursts = this.burstsIn(windows, usual);
    const { bias, inflation } = usual;
    const isNoise = (mean: number, count: number): boolean => {
      const { low, high } = this.limitsOf(count / inflation);
      return mean <= high && mean >= low;
    };
    const limits = { bias, leastOffset: LEAST_OFFSET, isNoise };
    this.runs.find(windows, limits, (c, first, end, mean) => {
      for (let w = first; w < end; w++) this.takeCell(w * channels + c, mean > 0 ? ABOVE : BELOW);
    });
    this.takeCrowds(usual);
    this.takeAround(windows, usual);
    return bursts;
  }

  private setLength(length: number): void {
    this.length = length;
    this.limits = [];
    this.variance = kurtosisMoments(length, 1).variance;
    const sigma = Math.sqrt(this.variance);
    for (let count = 0; count < this.roots.length; count++) this.roots[count] = Math.sqrt(count) / sigma;
  }

  /** By medians, which a few channels or windows of interference leave as they are. */
  private usualOf(rows: number): Usual | undefined {
    const { totals, counts } = this.cells;
    const { roots } = this;
    if (this.means.length < rows) this.means = new Float64Array(rows);
    const { means } = this;
    let heard = 0;
    for (let row = 0; row < rows; row++) {
      const count = counts[row];
      if (count > 0) means[heard++] = totals[row] / count;
    }
    if (heard < LEAST_CELLS) return undefined;
    const bias = this.middle.of(means, heard, this.near.mean);
    // Skies that all inputs hear make their kurtoses alike, and means over inputs less certain than their number says.
    for (let row = 0, n = 0; row < rows; row++) {
      const count = counts[row];
      if (count === 0) continue;
      means[n] = Math.abs(means[n] - bias) * roots[count];
      n++;
    }
    const spread = 1.4826 * this.middle.of(means, heard, this.near.spread);
    return { bias, inflation: Math.max(1, spread * spread) };
  }

  private burstsIn(windows: number, { bias, inflation }: Usual): readonly number[] {
    const { totals, counts } = this.cells;
    const { channels } = this.plan;
    const isKnown = windows >= LEAST_WINDOWS;
    const bursts: number[] = [];
    for (let w = 0; w < windows; w++) {
      let [total, count] = [0, 0];
      for (let cell = w * channels; cell < (w + 1) * channels; cell++) {
        total += totals[cell];
        count += counts[cell];
      }
      if (count === 0) continue;
      const mean = total / count - (isKnown ? bias : 0);
      const { high } = this.limitsOf(count / (inflation * CHANNELS_ALIKE));
      if (!(mean > Math.max(high, isKnown ? LEAST_OFFSET : LEAST_OFFSET_OF_FEW))) continue;
      bursts.push(w);
      // What is said of all channels is not said of each again.
      this.cells.leaveOut(w * channels, (w + 1) * channels);
    }
    return bursts;
  }

  /** Where more inputs offend, each for itself, than noise would have it by one sigma more, the others go with them. */
  private takeCrowds({ inflation }: Usual): void {
    const { offences } = this;
    const { rows, rowCount, counts: offending, groups } = offences;
    const { counts } = this.cells;
    for (let n = 0; n < rowCount; n++) {
      const cell = rows[n];
      // One alone is no crowd.
      if (offending[cell] < 2 || counts[cell] === 0) continue;
      let [above, below] = [0, 0];
      for (let at = cell * groups; at < (cell + 1) * groups; at++) {
        const alone = offences.aloneIn(at);
        if (alone === 0) continue;
        above += countOf(alone & ~offences.belowIn(at));
        below += countOf(alone & offences.belowIn(at));
      }
      // Inputs that hear the same noise are no crowd.
      const crowd = this.crowdOf(Math.round((counts[cell] + above + below) / inflation));
      if (Math.round(above / inflation) >= crowd) this.takeCell(cell, ABOVE);
      if (Math.round(below / inflation) >= crowd) this.takeCell(cell, BELOW);
    }
  }

  /**
   * Beside what most inputs hear, in time and frequency, a mean of one sigma less is enough, and so on from there: what drifts or
   * fades passes some limits and just misses others.
   */
  private takeAround(windows: number, { bias, inflation }: Usual): void {
    const { channels, realChannels } = this.plan;
    const { totals, counts } = this.cells;
    const sigmas = (this.plan.sigmas - 1) * Math.sqrt(this.variance * inflation);
    const { rows, rowCount } = this.offences;
    const here = new Uint32Array(windows);
    const found: number[] = [];
    for (let n = 0; n < rowCount; n++) {
      if (!this.isHeard(rows[n])) continue;
      found.push(rows[n]);
      here[Math.floor(rows[n] / channels)]++;
    }
    // What is in most channels is a burst, over as suddenly as it came.
    if (found.length === 0) return;
    const heard = [...Int32Array.from(found).sort()].filter(
      (cell) => 2 * here[Math.floor(cell / channels)] <= channels,
    );
    // It grows while it is walked through.
    for (const cell of heard) {
      const side = this.sideOf(cell);
      const [w, c] = [Math.floor(cell / channels), cell % channels];
      for (let ww = Math.max(0, w - 1); ww <= Math.min(windows - 1, w + 1); ww++)
        for (let cc = Math.max(realChannels, c - 1); cc <= Math.min(channels - 1, c + 1); cc++) {
          const at = ww * channels + cc;
          if (counts[at] === 0 || this.isHeard(at)) continue;
          const mean = (totals[at] / counts[at] - bias) * (side === ABOVE ? 1 : -1);
          if (mean <= Math.max(LEAST_OFFSET, sigmas / Math.sqrt(counts[at]))) continue;
          this.takeCell(at, side);
          heard.push(at);
        }
    }
  }

  /** Whether most inputs of a cell offend. */
  private isHeard(cell: number): boolean {
    const offending = this.offences.counts[cell];
    // One alone is no crowd.
    return offending >= 2 && 2 * offending > this.cells.inputsAsked;
  }

  /** On which side most of them do. */
  private sideOf(cell: number): number {
    const { offences } = this;
    const { groups, counts } = offences;
    let above = 0;
    for (let at = cell * groups; at < (cell + 1) * groups; at++)
      above += countOf(offences.bitsOf(at) & ~offences.belowIn(at));
    return 2 * above > counts[cell] ? ABOVE : BELOW;
  }

  private crowdOf(inputs: number): number {
    return (this.crowds[inputs] ??= crowdOf(this.plan.sigmas, inputs));
  }

  private takeCell(cell: number, side: number): void {
    if (this.cells.counts[cell] === 0) return;
    this.cells.leaveOut(cell, cell + 1);
    this.offences.setOthers(cell, TOGETHER + side);
  }

  /** Of means of so many; few numbers are kept, each of a few less than asked for. */
  private limitsOf(count: number): Limits {
    const step = Math.floor(4 * octavesOf(Math.max(1, count)));
    return (this.limits[step] ??= this.book.of(this.length, 1, inputsOfStep(step)));
  }
}
