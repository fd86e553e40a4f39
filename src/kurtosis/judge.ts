/**
 * From sums of powers to what is taken: the same code whatever backend made the sums, so that masks are the same bit for
 * bit. Nearly all windows lie within their fences (screen.ts), and only the others are looked at one by one. An input goes
 * alone, or with its station where the plan says so.
 */
import { extendRuns } from './extend.js';
import { FenceBook, type Fencing } from './fences.js';
import type { PowerShape } from './limits.js';
import { Offences } from './offences.js';
import { LEAST_SPECTRA, LimitBook, type KurtosisPlan } from './plan.js';
import type { RoundedCurve } from './rounded.js';
import { allocateScreened, GROUP, groupsOf, OUTSIDE, PAIR_OUTSIDE, screen, type Screened } from './screen.js';
import { Together } from './together.js';
import { ABOVE, BELOW, isAlone, offsetOf, PAIRED, TOGETHER, UNJUDGED, verdictOf } from './verdicts.js';

/** What was decided of a block. */
export interface Judgement {
  /** Windows are [edges[w], edges[w + 1]). */
  readonly edges: Int32Array;
  /** mask : [w][c][a], 1 where an input's samples are taken. */
  readonly mask: Uint8Array;
  /**
   * offenders : [w][c][a], 1 where an input's own kurtosis lies above its limits, 2 below; 4 more of a pair of windows, 8 more
   * of inputs or windows together. Kept windows' too.
   */
  readonly offenders: Uint8Array;
  /** present : [w][c][a], spectra that came; undefined where all did. */
  readonly present: Uint32Array | undefined;
  /** Windows in which most inputs and channels would have gone at once. */
  readonly everywhere: readonly number[];
  /** common : [w][c], 1 where more than half of the stations offended. */
  readonly common: Uint8Array;
  /** Inputs' windows that were too short, too weak or silent, and so not judged. */
  readonly unjudged: number;
}

/** Fewer cells than this are not everywhere. */
const LEAST_CELLS = 8;

/** A block's sums, and what is known of them. */
interface Sums {
  readonly edges: Int32Array;
  /** sums : [w][c][a][S1, S2] */
  readonly sums: Float64Array;
  /** present : [w][c][a] */
  readonly present: Uint32Array | undefined;
  readonly screened: Screened;
  readonly offences: Offences;
}

export class Judge {
  private readonly book: LimitBook;
  private readonly fences: FenceBook;
  private readonly together: Together;
  private readonly groups: number;
  /** Stations of which an input is asked. */
  private readonly askedStations: number;
  private screened: Screened | undefined;

  constructor(private readonly plan: KurtosisPlan) {
    const { stations, polarisations, flaggedInputs } = plan;
    this.book = new LimitBook(plan.sigmas);
    this.fences = new FenceBook(plan);
    this.together = new Together(plan);
    this.groups = groupsOf(plan);
    this.askedStations = Array.from({ length: stations }, (_, s) =>
      flaggedInputs.subarray(s * polarisations, (s + 1) * polarisations),
    ).filter((mine) => mine.includes(0)).length;
  }

  /** What a backend needs that screens its sums itself; nothing where inputs are judged by their mean alone. */
  fencing(edges: Int32Array): Fencing | undefined {
    return this.plan.over === 'each' ? this.fences.fencing(edges) : undefined;
  }

  /** sums : [w][c][a][S1, S2]. What was screened already is written to. */
  judge(
    edges: Int32Array,
    sums: Float64Array,
    present: Uint32Array | undefined,
    screened?: Screened,
  ): Judgement {
    const { channels, inputs, over, bursts } = this.plan;
    const windows = edges.length - 1;
    const offences = new Offences(this.plan, windows);
    const judged = new Uint16Array(windows * channels).fill(this.askedStations);
    let unjudged = 0;
    let weakBursts: readonly number[] = [];
    if (over === 'inputs') unjudged = this.judgeMeans({ edges, sums, present, offences }, judged);
    else {
      const fencing = this.fences.fencing(edges);
      const block = { edges, sums, present, offences, screened: screened ?? this.screen(fencing, sums) };
      if (present) this.markMissing(block, present);
      unjudged = this.judgeWindows(block, judged);
      this.judgePairs(block);
      this.takeBetween(windows, offences);
      weakBursts = this.together.judge({ ...block, fencing });
      this.takeNeighbours(windows, offences, judged);
      if (bursts === 'take')
        for (const w of weakBursts)
          for (let c = 0; c < channels; c++) offences.setOthers(w * channels + c, TOGETHER + ABOVE);
    }
    const mask = new Uint8Array(windows * channels * inputs);
    const common = new Uint8Array(windows * channels);
    const everywhere: number[] = [];
    for (let w = 0; w < windows; w++) {
      let cells = 0;
      let taken = 0;
      for (let row = w * channels; row < (w + 1) * channels; row++) {
        cells += judged[row];
        if (offences.rows[row] === 0) continue;
        const offending = this.takeInputs(row, offences.codes, mask);
        taken += offending;
        if (2 * offending > judged[row]) common[row] = 1;
      }
      if (cells >= LEAST_CELLS && 2 * taken > cells) {
        everywhere.push(w);
        if (bursts === 'keep') mask.fill(0, w * channels * inputs, (w + 1) * channels * inputs);
      } else if (weakBursts.includes(w)) {
        // Kept as it is: what single channels lose, they lose for themselves.
        everywhere.push(w);
        common.fill(1, w * channels, (w + 1) * channels);
      }
    }
    return { edges, mask, offenders: offences.codes, present, everywhere, common, unjudged };
  }

  private screen(fencing: Fencing, sums: Float64Array): Screened {
    const windows = fencing.edges.length - 1;
    const { channels, inputs } = this.plan;
    if (this.screened?.marks.length !== windows * channels * inputs)
      this.screened = allocateScreened(this.plan, windows);
    screen(this.plan, fencing, sums, this.screened);
    return this.screened;
  }

  /** Windows of which a part never came have limits of their own: they are looked at one by one, and so are their pairs. */
  private markMissing({ edges, screened }: Sums, present: Uint32Array): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    const { marks, groupMarks } = screened;
    const mark = (row: number, input: number, what: number): void => {
      marks[row * inputs + input] |= what;
      groupMarks[row * this.groups + Math.floor(input / GROUP)] |= what;
    };
    for (let w = 0; w + 1 < edges.length; w++) {
      const length = edges[w + 1] - edges[w];
      for (let row = w * channels; row < (w + 1) * channels; row++)
        for (let a = 0; a < inputs; a++) {
          if (present[row * inputs + a] === length || flaggedInputs[a] === 1) continue;
          mark(row, a, OUTSIDE | PAIR_OUTSIDE);
          if (w > 0) mark(row - channels, a, PAIR_OUTSIDE);
        }
    }
  }

  /** Every input of every window's channel for itself; how many could not be judged. */
  private judgeWindows(block: Sums, judged: Uint16Array): number {
    const { channels } = this.plan;
    let unjudged = 0;
    for (let w = 0; w + 1 < block.edges.length; w++)
      for (let c = 0; c < channels; c++)
        for (let group = 0, at = (w * channels + c) * this.groups; group < this.groups; group++, at++)
          if ((block.screened.groupMarks[at] & OUTSIDE) !== 0)
            unjudged += this.judgeInputs(block, w, c, group * GROUP, judged);
    return unjudged;
  }

  /** A group of inputs of a window's channel: those that are marked, or all where nobody screened them. */
  private judgeInputs(
    { edges, sums, present, offences, screened }: Omit<Sums, 'screened'> & Partial<Sums>,
    window: number,
    channel: number,
    first: number,
    judged: Uint16Array,
  ): number {
    const { channels, inputs, polarisations, flaggedInputs } = this.plan;
    const length = edges[window + 1] - edges[window];
    const row = window * channels + channel;
    let unjudged = 0;
    let lastSilent = -1;
    for (let a = first; a < Math.min(inputs, first + GROUP); a++) {
      const at = row * inputs + a;
      if (flaggedInputs[a] === 1 || (screened && (screened.marks[at] & OUTSIDE) === 0)) continue;
      const spectra = present ? present[at] : length;
      const verdict = this.verdict(sums[2 * at], sums[2 * at + 1], spectra, channel, 'window');
      if (verdict === UNJUDGED) {
        unjudged++;
        // A station of which no polarisation can be judged; its inputs are of one group.
        const isAlone = polarisations === 1 || flaggedInputs[a ^ 1] === 1;
        if (isAlone || (a % 2 === 1 && lastSilent === a - 1)) judged[row]--;
        lastSilent = a;
      } else if (verdict !== 0) offences.set(row, a, verdict);
    }
    return unjudged;
  }

  /**
   * Something loud that is on for half of a window looks like noise there: 1/½ − 1 = 1. With the window before or after
   * it does not. So windows that nobody took are judged in pairs too, by one standard deviation more, and both go.
   */
  private judgePairs({ edges, sums, present, screened, offences }: Sums): void {
    const { channels, inputs } = this.plan;
    const { marks, groupMarks } = screened;
    const { codes } = offences;
    for (let w = 0; w + 2 < edges.length; w++) {
      const length = edges[w + 2] - edges[w];
      for (let c = 0; c < channels; c++) {
        const row = w * channels + c;
        for (let group = 0; group < this.groups; group++) {
          if ((groupMarks[row * this.groups + group] & PAIR_OUTSIDE) === 0) continue;
          const end = Math.min(inputs, (group + 1) * GROUP);
          for (let a = group * GROUP; a < end; a++) {
            const x = row * inputs + a;
            const y = x + channels * inputs;
            // Only what neither was taken for alone; a pair's own verdict is told apart.
            if ((marks[x] & PAIR_OUTSIDE) === 0 || isAlone(codes[x]) || isAlone(codes[y])) continue;
            const spectra = present ? present[x] + present[y] : length;
            const [s1, s2] = [sums[2 * x] + sums[2 * y], sums[2 * x + 1] + sums[2 * y + 1]];
            const verdict = this.verdict(s1, s2, spectra, c, 'pair');
            if (!isAlone(verdict)) continue;
            offences.set(row, a, PAIRED + verdict);
            offences.set(row + channels, a, PAIRED + verdict);
          }
        }
      }
    }
  }

  private verdict(s1: number, s2: number, spectra: number, channel: number, span: 'window' | 'pair'): number {
    const shape = this.shapeOf(channel);
    const limits = this.fences.limitsOf(spectra, shape, span);
    return verdictOf(s1, s2, spectra, limits, shape, this.curveOf(channel));
  }

  /** What lies between two that were taken alone goes too, and what lies between one and the block's end. */
  private takeBetween(windows: number, offences: Offences): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    const { codes, rows } = offences;
    if (windows < 2) return;
    for (let w = 0; w < windows; w++)
      for (let row = w * channels; row < (w + 1) * channels; row++) {
        const isFirst = w === 0;
        const isLast = w === windows - 1;
        if (rows[isFirst ? row + channels : row - channels] === 0) continue;
        if (!isFirst && !isLast && rows[row + channels] === 0) continue;
        for (let a = 0; a < inputs; a++) {
          const at = row * inputs + a;
          if (codes[at] !== 0 || flaggedInputs[a] === 1) continue;
          const before = isFirst ? EDGE : codes[at - channels * inputs];
          if (before !== EDGE && !isAlone(before)) continue;
          const after = isLast ? EDGE : codes[at + channels * inputs];
          if (after !== EDGE && !isAlone(after)) continue;
          offences.set(row, a, PAIRED + (before === EDGE ? after : before));
        }
      }
  }

  /** Windows beside those in which most stations offend. */
  private takeNeighbours(windows: number, offences: Offences, judged: Uint16Array): void {
    const { channels } = this.plan;
    const heard = new Uint8Array(windows);
    const more = new Uint8Array(windows);
    for (let c = 0; c < channels; c++) {
      let any = false;
      for (let w = 0; w < windows; w++) {
        const row = w * channels + c;
        const isHeard =
          offences.rows[row] === 1 && 2 * this.offendingStations(row, offences.codes) > judged[row];
        heard[w] = isHeard ? 1 : 0;
        any ||= isHeard;
      }
      if (!any) continue;
      more.set(heard);
      extendRuns(more);
      for (let w = 0; w < windows; w++)
        if (heard[w] === 0 && more[w] === 1) offences.setOthers(w * channels + c, TOGETHER + ABOVE);
    }
  }

  private offendingStations(row: number, codes: Uint8Array): number {
    const { inputs, polarisations } = this.plan;
    let offending = 0;
    for (let n = row * inputs; n < (row + 1) * inputs; n += polarisations)
      if (codes[n] !== 0 || codes[n + polarisations - 1] !== 0) offending++;
    return offending;
  }

  /** Into the mask with a row's offending inputs; how many stations have one. */
  private takeInputs(row: number, codes: Uint8Array, mask: Uint8Array): number {
    const { inputs, stations, polarisations, takes } = this.plan;
    let offending = 0;
    for (let s = 0, n = row * inputs; s < stations; s++, n += polarisations) {
      let any = 0;
      for (let p = 0; p < polarisations; p++) {
        if (codes[n + p] === 0) continue;
        mask[n + p] = 1;
        any = 1;
      }
      offending += any;
      if (any === 1 && takes === 'stations') mask.fill(1, n, n + polarisations);
    }
    return offending;
  }

  /** The mean over inputs, each in units of its own spread; single ones where fewer than two can be judged. */
  private judgeMeans(block: Omit<Sums, 'screened'>, judged: Uint16Array): number {
    const { channels } = this.plan;
    let unjudged = 0;
    for (let w = 0; w + 1 < block.edges.length; w++)
      for (let c = 0; c < channels; c++) unjudged += this.judgeMean(block, w, c, judged);
    return unjudged;
  }

  private judgeMean(
    block: Omit<Sums, 'screened'>,
    window: number,
    channel: number,
    judged: Uint16Array,
  ): number {
    const { channels, inputs, flaggedInputs } = this.plan;
    const { edges, sums, present, offences } = block;
    const length = edges[window + 1] - edges[window];
    const row = window * channels + channel;
    const shape = this.shapeOf(channel);
    let [sum, count, unjudged] = [0, 0, 0];
    for (let a = 0; a < inputs; a++) {
      if (flaggedInputs[a] === 1) continue;
      const at = row * inputs + a;
      const isWhole = length >= LEAST_SPECTRA && (!present || present[at] === length);
      const off = isWhole
        ? offsetOf(sums[2 * at], sums[2 * at + 1], length, shape, this.curveOf(channel))
        : NaN;
      if (Number.isNaN(off)) unjudged++;
      else {
        sum += off;
        count++;
      }
    }
    if (count < 2) {
      unjudged = 0;
      for (let first = 0; first < inputs; first += GROUP)
        unjudged += this.judgeInputs(block, window, channel, first, judged);
      return unjudged;
    }
    const { low, high } = this.book.of(length, shape, count);
    const verdict = sum / count > high ? ABOVE : sum / count < low ? BELOW : 0;
    if (verdict !== 0) offences.setOthers(row, verdict);
    return unjudged;
  }

  private shapeOf = (channel: number): PowerShape => (channel < this.plan.realChannels ? 0.5 : 1);
  private curveOf = (channel: number): RoundedCurve | undefined =>
    this.plan.curves[channel < this.plan.realChannels ? 'real' : 'complex'];
}

/** Beyond the block's first or last window. */
const EDGE = 255;
