/**
 * What is too weak to show in one window of one input, and is heard by many inputs, stays for long, or is in all channels:
 * kurtoses of noise have a mean of 1, the closer the more of them there are. Only windows that nobody took are looked at.
 */
import { middleOf } from '../core/median.js';
import { tail } from '../core/rounded-noise.js';
import type { Fencing } from './fences.js';
import { kurtosisMoments, type Limits } from './limits.js';
import type { Offences } from './offences.js';
import { LimitBook, type KurtosisPlan } from './plan.js';
import { GROUP, groupsOf, offsetByFence, OUTSIDE, type Screened } from './screen.js';
import { ABOVE, BELOW, isAlone, sideOf, TOGETHER } from './verdicts.js';

/** Many runs of many lengths are asked, and what is found takes all of one: so by so many sigmas more. */
const MORE_SIGMAS = 1.5;
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

export interface TogetherRow {
  readonly edges: Int32Array;
  /** sums : [w][c][a][S1, S2] */
  readonly sums: Float64Array;
  /** present : [w][c][a] */
  readonly present: Uint32Array | undefined;
  readonly fencing: Fencing;
  readonly screened: Screened;
  /** What is found is added. */
  readonly offences: Offences;
}

interface Cells {
  /** totals : [w][c] of inputs' kurtoses less 1, and counts : [w][c] of inputs. */
  readonly totals: Float64Array;
  readonly counts: Float64Array;
}

/** What noise is like here: its mean less 1, and the variance of means over inputs, over that of independent ones. */
interface Usual {
  readonly bias: number;
  readonly inflation: number;
}

export class Together {
  private readonly book: LimitBook;
  private readonly limits = new Map<number, Limits>();
  private readonly crowds = new Map<number, number>();
  private length = 0;
  /** Inputs that are. */
  private readonly asked: number;

  constructor(private readonly plan: KurtosisPlan) {
    this.asked = plan.flaggedInputs.reduce((sum, flag) => sum + 1 - flag, 0);
    this.book = new LimitBook(plan.sigmas + MORE_SIGMAS);
  }

  /** Windows that are louder in all channels together; channels that are not noise go into the offenders. */
  judge(row: TogetherRow): readonly number[] {
    const { channels, realChannels } = this.plan;
    const { edges } = row;
    const windows = edges.length - 1;
    if (channels - realChannels < LEAST_CHANNELS || windows * channels < LEAST_CELLS) return [];
    // Windows are alike to four spectra: limits of the shortest hold for all.
    const length = edges.reduce(
      (least, edge, w) => (w === 0 ? least : Math.min(least, edge - edges[w - 1])),
      Infinity,
    );
    if (length !== this.length) this.limits.clear();
    this.length = length;
    const cells = this.cellsOf(row);
    const usual = this.usualOf(cells);
    if (!usual) return [];
    const bursts = this.burstsIn(windows, cells, usual);
    for (let run = 1; run <= windows; run *= 2)
      for (let c = realChannels; c < channels; c++) this.takeRuns(row, c, run, cells, usual);
    this.takeCrowds(row, cells, usual);
    this.takeAround(row, cells, usual);
    return bursts;
  }

  private cellsOf(row: TogetherRow): Cells {
    const { channels, inputs, realChannels, flaggedInputs } = this.plan;
    const { screened, offences } = row;
    const groups = groupsOf(this.plan);
    const windows = row.edges.length - 1;
    const totals = new Float64Array(windows * channels);
    const counts = new Float64Array(windows * channels);
    const asked = Array.from({ length: groups }, (_, group) =>
      flaggedInputs.subarray(group * GROUP, (group + 1) * GROUP).reduce((sum, flag) => sum + 1 - flag, 0),
    );
    for (let w = 0; w < windows; w++)
      for (let c = realChannels; c < channels; c++) {
        const cell = w * channels + c;
        let [total, count] = [0, 0];
        for (let group = 0; group < groups; group++) {
          const at = cell * groups + group;
          if ((screened.groupMarks[at] & OUTSIDE) === 0 && offences.groups[at] === 0) {
            total += screened.totals[at];
            count += asked[group];
            continue;
          }
          const first = group * GROUP;
          for (let a = first; a < Math.min(inputs, first + GROUP); a++) {
            const off = flaggedInputs[a] === 1 ? NaN : this.offsetIn(row, w, cell * inputs + a);
            if (Number.isNaN(off)) continue;
            total += off;
            count++;
          }
        }
        totals[cell] = total;
        counts[cell] = count;
      }
    return { totals, counts };
  }

  /** NaN of who offends, or did not come whole. */
  private offsetIn({ edges, sums, present, offences, fencing }: TogetherRow, w: number, at: number): number {
    if (offences.codes[at] !== 0 || (present && present[at] !== edges[w + 1] - edges[w])) return NaN;
    return offsetByFence(fencing.fences[fencing.places[4 * w]], sums[2 * at], sums[2 * at + 1]);
  }

  /** By medians, which a few channels or windows of interference leave as they are. */
  private usualOf({ totals, counts }: Cells): Usual | undefined {
    const means = new Float64Array(counts.length);
    let heard = 0;
    for (let cell = 0; cell < counts.length; cell++)
      if (counts[cell] > 0) means[heard++] = totals[cell] / counts[cell];
    if (heard < LEAST_CELLS) return undefined;
    const bias = middleOf(means, heard);
    // Skies that all inputs hear make their kurtoses alike, and means over inputs less certain than their number says.
    const sigma = Math.sqrt(kurtosisMoments(this.length, 1).variance);
    heard = 0;
    for (let cell = 0; cell < counts.length; cell++)
      if (counts[cell] > 0)
        means[heard++] = Math.abs(totals[cell] / counts[cell] - bias) * (Math.sqrt(counts[cell]) / sigma);
    const spread = 1.4826 * middleOf(means, heard);
    return { bias, inflation: Math.max(1, spread ** 2) };
  }

  private burstsIn(
    windows: number,
    { totals, counts }: Cells,
    { bias, inflation }: Usual,
  ): readonly number[] {
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
      counts.fill(0, w * channels, (w + 1) * channels);
    }
    return bursts;
  }

  /** Where more inputs offend, each for itself, than noise would have it by one sigma more, the others go with them. */
  private takeCrowds(row: TogetherRow, { counts }: Cells, { inflation }: Usual): void {
    const { channels, inputs, realChannels } = this.plan;
    const { rows, codes } = row.offences;
    for (let cell = 0; cell < rows.length; cell++) {
      if (rows[cell] === 0 || counts[cell] === 0 || cell % channels < realChannels) continue;
      const sides = [0, 0, 0];
      for (let at = cell * inputs; at < (cell + 1) * inputs; at++) if (isAlone(codes[at])) sides[codes[at]]++;
      // Inputs that hear the same noise are no crowd.
      const asked = Math.round((counts[cell] + sides[ABOVE] + sides[BELOW]) / inflation);
      for (const side of [ABOVE, BELOW])
        if (Math.round(sides[side] / inflation) >= this.crowdOf(asked))
          this.takeCell(row, cell, side, counts);
    }
  }

  /**
   * Beside what most inputs hear, in time and frequency, a mean of one sigma less is enough, and so on from there: what drifts or
   * fades passes some limits and just misses others.
   */
  private takeAround(row: TogetherRow, cells: Cells, { bias, inflation }: Usual): void {
    const { channels, realChannels } = this.plan;
    const { totals, counts } = cells;
    const windows = row.edges.length - 1;
    const sigmas = (this.plan.sigmas - 1) * Math.sqrt(kurtosisMoments(this.length, 1).variance * inflation);
    const heard: number[] = [];
    for (let w = 0; w < windows; w++) {
      const here: number[] = [];
      for (let cell = w * channels; cell < (w + 1) * channels; cell++)
        if (this.sideHeard(row, cell) !== 0) here.push(cell);
      // What is in most channels is a burst, over as suddenly as it came.
      if (2 * here.length <= channels) heard.push(...here);
    }
    // It grows while it is walked through.
    for (const cell of heard) {
      const side = this.sideHeard(row, cell);
      const [w, c] = [Math.floor(cell / channels), cell % channels];
      for (let ww = Math.max(0, w - 1); ww <= Math.min(windows - 1, w + 1); ww++)
        for (let cc = Math.max(realChannels, c - 1); cc <= Math.min(channels - 1, c + 1); cc++) {
          const at = ww * channels + cc;
          if (counts[at] === 0 || this.sideHeard(row, at) !== 0) continue;
          const mean = (totals[at] / counts[at] - bias) * (side === ABOVE ? 1 : -1);
          if (mean <= Math.max(LEAST_OFFSET, sigmas / Math.sqrt(counts[at]))) continue;
          this.takeCell(row, at, side, counts);
          heard.push(at);
        }
    }
  }

  /** On which side most inputs of a cell offend; 0 where they do not. */
  private sideHeard({ offences }: TogetherRow, cell: number): number {
    if (offences.rows[cell] === 0) return 0;
    const { inputs } = this.plan;
    let [offending, above] = [0, 0];
    for (let at = cell * inputs; at < (cell + 1) * inputs; at++) {
      if (offences.codes[at] === 0) continue;
      offending++;
      if (sideOf(offences.codes[at]) === ABOVE) above++;
    }
    // One alone is no crowd.
    if (offending < 2 || 2 * offending <= this.asked) return 0;
    return 2 * above > offending ? ABOVE : BELOW;
  }

  /** How many of so many inputs pass a limit by chance more rarely than a Gaussian passes one sigma more. */
  private crowdOf(inputs: number): number {
    const found = this.crowds.get(inputs);
    if (found !== undefined) return found;
    const [part, rare] = [tail(this.plan.sigmas), tail(this.plan.sigmas + 1)];
    // From none on: how likely exactly so many are, and any more.
    let exactly = (1 - part) ** inputs;
    let more = 1 - exactly;
    let crowd = 1;
    for (; crowd < inputs && more > rare; crowd++) {
      exactly *= ((inputs - crowd + 1) / crowd) * (part / (1 - part));
      more -= exactly;
    }
    this.crowds.set(inputs, Math.max(2, crowd));
    return Math.max(2, crowd);
  }

  /** Runs of so many windows of a channel, each half of one further on. */
  private takeRuns(
    row: TogetherRow,
    channel: number,
    run: number,
    cells: Cells,
    { bias, inflation }: Usual,
  ): void {
    const { channels } = this.plan;
    const { totals, counts } = cells;
    const windows = row.edges.length - 1;
    const step = Math.max(1, run / 2);
    for (let first = 0; first < windows; first += step) {
      const end = Math.min(windows, first + run);
      let [total, count] = [0, 0];
      for (let w = first; w < end; w++) {
        const cell = w * channels + channel;
        if (counts[cell] === 0) continue;
        total += totals[cell];
        count += counts[cell];
      }
      if (count === 0) continue;
      const mean = total / count - bias;
      if (Math.abs(mean) <= LEAST_OFFSET) continue;
      const { low, high } = this.limitsOf(count / inflation);
      if (mean <= high && mean >= low) continue;
      for (let w = first; w < end; w++)
        this.takeCell(row, w * channels + channel, mean > 0 ? ABOVE : BELOW, counts);
    }
  }

  private takeCell({ offences }: TogetherRow, cell: number, side: number, counts: Float64Array): void {
    if (counts[cell] === 0) return;
    counts[cell] = 0;
    offences.setOthers(cell, TOGETHER + side);
  }

  /** Of means of so many; few numbers are kept, each of a few less than asked for. */
  private limitsOf(count: number): Limits {
    const step = Math.floor(4 * Math.log2(Math.max(1, count)));
    const found = this.limits.get(step);
    if (found) return found;
    const limits = this.book.of(this.length, 1, 2 ** (step / 4));
    this.limits.set(step, limits);
    return limits;
  }
}
