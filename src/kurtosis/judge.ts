/**
 * From sums of powers to what is taken: the same code whatever backend made the sums, so that masks are the same bit for
 * bit. Nearly all windows lie within their fences (screen.ts), and only the others are looked at one by one. An input goes
 * alone, or with its station where the plan says so.
 */
import { extendRuns } from './extend.js';
import { FenceBook, type Fencing } from './fences.js';
import { countOf, eitherOf, lowest } from './judging/bits.js';
import type { JudgedBlock } from './judging/cells.js';
import { Judgement } from './judging/judgement.js';
import { Marked } from './judging/marked.js';
import { JudgedStations } from './judging/stations.js';
import type { PowerShape } from './limits.js';
import { Offences } from './offences.js';
import { LEAST_SPECTRA, LimitBook, type KurtosisPlan } from './plan.js';
import type { RoundedCurve } from './rounded.js';
import { allocateScreened, GROUP, OUTSIDE, PAIR_OUTSIDE, screen, type Screened } from './screen.js';
import { Together } from './together.js';
import { ABOVE, BELOW, isAlone, offsetOf, PAIRED, TOGETHER, UNJUDGED, verdictOf } from './verdicts.js';

export { Judgement } from './judging/judgement.js';

/** Fewer cells than this are not everywhere. */
const LEAST_CELLS = 8;

/** A block's sums, and what is known of them. */
type Sums = Pick<JudgedBlock, 'edges' | 'sums' | 'present'>;

/** Its rooms are kept from block to block; what it hands out is the caller's. */
export class Judge {
  private readonly book: LimitBook;
  private readonly fences: FenceBook;
  private readonly offences: Offences;
  private readonly together: Together;
  private readonly marked: Marked;
  private readonly stations: JudgedStations;
  private screened: Screened | undefined;
  private unjudged = 0;
  private lists = { taken: new Int32Array(0), offending: new Int32Array(0), codes: new Uint8Array(0) };

  constructor(private readonly plan: KurtosisPlan) {
    this.book = new LimitBook(plan.sigmas);
    this.fences = new FenceBook(plan);
    this.offences = new Offences(plan);
    this.together = new Together(plan, this.offences);
    this.marked = new Marked(plan);
    this.stations = new JudgedStations(plan);
  }

  /** What a backend needs that screens its sums itself; nothing where inputs are judged by their mean alone. */
  fencing(edges: Int32Array): Fencing | undefined {
    return this.plan.over === 'each' ? this.fences.fencing(edges) : undefined;
  }

  /**
   * sums : [w][c][a][S1, S2]. What was screened already is written to. Sums and marks of groups of inputs are read only where the
   * group is marked, or that of the window before or after; the others need not be there.
   */
  judge(
    edges: Int32Array,
    sums: Float64Array,
    present: Uint32Array | undefined,
    screened?: Screened,
  ): Judgement {
    const { channels, over, bursts } = this.plan;
    const { offences } = this;
    const windows = edges.length - 1;
    offences.clear(windows);
    this.stations.clear(windows);
    this.unjudged = 0;
    let weakBursts: readonly number[] = [];
    if (over === 'inputs') this.judgeMeans({ edges, sums, present });
    else {
      const fencing = this.fences.fencing(edges);
      const seen = screened ?? this.screen(fencing, sums);
      if (present) this.marked.addMissing(edges, seen, present);
      const marked = this.marked.find(seen, windows);
      const block = {
        ...{ edges, sums, present, fencing, screened: seen },
        ...{ marked, outside: this.marked.outside, offences },
      };
      this.judgeWindows(block);
      this.judgePairs(block);
      this.takeBetween(windows);
      weakBursts = this.together.judge(block);
      this.takeNeighbours(windows);
      if (bursts === 'take')
        for (const w of weakBursts)
          for (let c = 0; c < channels; c++) offences.setOthers(w * channels + c, TOGETHER + ABOVE);
    }
    return this.decide(edges, present, weakBursts);
  }

  /** From offences to what is taken. */
  private decide(
    edges: Int32Array,
    present: Uint32Array | undefined,
    weakBursts: readonly number[],
  ): Judgement {
    const { channels, inputs, bursts } = this.plan;
    const { counts } = this.offences;
    const windows = edges.length - 1;
    if (this.lists.taken.length < windows * channels * inputs)
      this.lists = {
        taken: new Int32Array(windows * channels * inputs),
        offending: new Int32Array(windows * channels * inputs),
        codes: new Uint8Array(windows * channels * inputs),
      };
    const { taken, offending, codes } = this.lists;
    const ends = { taken: 0, offending: 0 };
    const common: number[] = [];
    const everywhere: number[] = [];
    for (let w = 0; w < windows; w++) {
      const before = { taken: ends.taken, common: common.length };
      let stations = 0;
      for (let row = w * channels; row < (w + 1) * channels; row++) {
        if (counts[row] === 0) continue;
        const many = this.takeInputs(row, ends);
        stations += many;
        if (2 * many > this.stations.judged[row]) common.push(row);
      }
      const cells = this.stations.cellsOf(w);
      if (cells >= LEAST_CELLS && 2 * stations > cells) {
        everywhere.push(w);
        if (bursts === 'keep') ends.taken = before.taken;
      } else if (weakBursts.includes(w)) {
        // Kept as it is: what single channels lose, they lose for themselves.
        everywhere.push(w);
        common.length = before.common;
        for (let row = w * channels; row < (w + 1) * channels; row++) common.push(row);
      }
    }
    return new Judgement(this.plan, {
      ...{ edges, present, everywhere, unjudged: this.unjudged, common: Int32Array.from(common) },
      taken: taken.slice(0, ends.taken),
      offending: offending.slice(0, ends.offending),
      codes: codes.slice(0, ends.offending),
    });
  }

  private screen(fencing: Fencing, sums: Float64Array): Screened {
    const windows = fencing.edges.length - 1;
    const { channels, inputs } = this.plan;
    if (this.screened?.marks.length !== windows * channels * inputs)
      this.screened = allocateScreened(this.plan, windows);
    screen(this.plan, fencing, sums, this.screened);
    return this.screened;
  }

  /** Every input of every window's channel for itself. */
  private judgeWindows(block: JudgedBlock): void {
    const { channels } = this.plan;
    const { groups } = this.offences;
    const { marked, outside, screened } = block;
    for (const at of marked) {
      if ((screened.groupMarks[at] & OUTSIDE) === 0) continue;
      const row = (at / groups) | 0;
      this.judgeInputs(block, (row / channels) | 0, row, at - row * groups, outside[at]);
    }
  }

  /** Those inputs of a group of a window's channel that the bits name. */
  private judgeInputs(
    { edges, sums, present }: Sums,
    window: number,
    row: number,
    group: number,
    bits: number,
  ): void {
    const { channels, inputs, polarisations, flaggedInputs } = this.plan;
    const length = edges[window + 1] - edges[window];
    const channel = row - window * channels;
    let lastSilent = -1;
    for (let left = bits; left !== 0; left &= left - 1) {
      const a = group * GROUP + lowest(left);
      const at = row * inputs + a;
      const spectra = present ? present[at] : length;
      const verdict = this.verdict(sums[2 * at], sums[2 * at + 1], spectra, channel, 'window');
      if (verdict === UNJUDGED) {
        this.unjudged++;
        // A station of which no polarisation can be judged; its inputs are of one group.
        const isAlone = polarisations === 1 || flaggedInputs[a ^ 1] === 1;
        if (isAlone || (a % 2 === 1 && lastSilent === a - 1)) this.stations.drop(window, row);
        lastSilent = a;
      } else if (verdict !== 0) this.offences.set(row, a, verdict);
    }
  }

  /**
   * Something loud that is on for half of a window looks like noise there: 1/½ − 1 = 1. With the window before or after
   * it does not. So windows that nobody took are judged in pairs too, by one standard deviation more, and both go.
   */
  private judgePairs({ edges, sums, present, screened, marked }: JudgedBlock): void {
    const { channels, inputs } = this.plan;
    const { marks, groupMarks } = screened;
    const { offences } = this;
    const { codes, groups } = offences;
    for (const place of marked) {
      if ((groupMarks[place] & PAIR_OUTSIDE) === 0) continue;
      const row = (place / groups) | 0;
      const w = (row / channels) | 0;
      if (w + 2 >= edges.length) break;
      const length = edges[w + 2] - edges[w];
      const first = (place - row * groups) * GROUP;
      for (let a = first; a < Math.min(inputs, first + GROUP); a++) {
        const x = row * inputs + a;
        const y = x + channels * inputs;
        // Only what neither was taken for alone; a pair's own verdict is told apart.
        if ((marks[x] & PAIR_OUTSIDE) === 0 || isAlone(codes[x]) || isAlone(codes[y])) continue;
        const spectra = present ? present[x] + present[y] : length;
        const [s1, s2] = [sums[2 * x] + sums[2 * y], sums[2 * x + 1] + sums[2 * y + 1]];
        const verdict = this.verdict(s1, s2, spectra, row - w * channels, 'pair');
        if (!isAlone(verdict)) continue;
        offences.set(row, a, PAIRED + verdict);
        offences.set(row + channels, a, PAIRED + verdict);
      }
    }
  }

  private verdict(s1: number, s2: number, spectra: number, channel: number, span: 'window' | 'pair'): number {
    const shape = this.shapeOf(channel);
    const limits = this.fences.limitsOf(spectra, shape, span);
    return verdictOf(s1, s2, spectra, limits, shape, this.curveOf(channel));
  }

  /** What lies between two that were taken alone goes too, and what lies between one and the block's end. */
  private takeBetween(windows: number): void {
    const { channels } = this.plan;
    const { rows, rowCount, counts } = this.offences;
    // Those that are added are not alone, and take nobody with them.
    for (let n = 0; n < rowCount; n++) {
      const row = rows[n];
      const w = (row / channels) | 0;
      if (w === 1) this.takeBetweenRows(EDGE, row - channels, row);
      if (w + 2 === windows) this.takeBetweenRows(row, row + channels, EDGE);
      else if (w + 2 < windows && counts[row + 2 * channels] > 0)
        this.takeBetweenRows(row, row + channels, row + 2 * channels);
    }
  }

  private takeBetweenRows(before: number, row: number, after: number): void {
    const { inputs } = this.plan;
    const { bits, codes, asked, groups } = this.offences;
    for (let group = 0; group < groups; group++) {
      let left = asked[group] & ~bits[row * groups + group];
      if (before !== EDGE) left &= bits[before * groups + group];
      if (after !== EDGE) left &= bits[after * groups + group];
      for (; left !== 0; left &= left - 1) {
        const a = group * GROUP + lowest(left);
        if (before !== EDGE && !isAlone(codes[before * inputs + a])) continue;
        if (after !== EDGE && !isAlone(codes[after * inputs + a])) continue;
        this.offences.set(row, a, PAIRED + codes[(before === EDGE ? after : before) * inputs + a]);
      }
    }
  }

  /** Windows beside those in which most stations offend. */
  private takeNeighbours(windows: number): void {
    const { channels } = this.plan;
    const { rows, rowCount, counts } = this.offences;
    const { judged } = this.stations;
    const windowsOf = new Map<number, number[]>();
    for (let n = 0; n < rowCount; n++) {
      const row = rows[n];
      // There are never more stations than inputs.
      if (2 * counts[row] <= judged[row] || 2 * this.offendingStations(row) <= judged[row]) continue;
      const w = (row / channels) | 0;
      const found = windowsOf.get(row - w * channels);
      if (found) found.push(w);
      else windowsOf.set(row - w * channels, [w]);
    }
    const more = new Uint8Array(windows);
    for (const [c, heard] of windowsOf) {
      more.fill(0);
      for (const w of heard) more[w] = 1;
      extendRuns(more);
      for (const w of heard) more[w] = 0;
      for (let w = 0; w < windows; w++)
        if (more[w] === 1) this.offences.setOthers(w * channels + c, TOGETHER + ABOVE);
    }
  }

  private offendingStations(row: number): number {
    const { bits, groups } = this.offences;
    const isDual = this.plan.polarisations === 2;
    let offending = 0;
    for (let at = row * groups; at < (row + 1) * groups; at++)
      offending += countOf(isDual ? eitherOf(bits[at]) : bits[at]);
    return offending;
  }

  /** A row's offending inputs into the lists; how many stations have one. */
  private takeInputs(row: number, ends: { taken: number; offending: number }): number {
    const { inputs, polarisations, takes } = this.plan;
    const { bits, codes, groups } = this.offences;
    const { lists } = this;
    let offending = 0;
    for (let group = 0; group < groups; group++) {
      const mine = bits[row * groups + group];
      if (mine === 0) continue;
      const first = row * inputs + group * GROUP;
      for (let left = mine; left !== 0; left &= left - 1) {
        const at = first + lowest(left);
        lists.codes[ends.offending] = codes[at];
        lists.offending[ends.offending++] = at;
      }
      const stations = polarisations === 2 ? eitherOf(mine) : mine;
      offending += countOf(stations);
      const going = takes === 'stations' && polarisations === 2 ? stations * 3 : mine;
      for (let left = going; left !== 0; left &= left - 1) lists.taken[ends.taken++] = first + lowest(left);
    }
    return offending;
  }

  /** The mean over inputs, each in units of its own spread; single ones where fewer than two can be judged. */
  private judgeMeans(block: Sums): void {
    const { channels } = this.plan;
    for (let w = 0; w + 1 < block.edges.length; w++)
      for (let c = 0; c < channels; c++) this.judgeMean(block, w, c);
  }

  private judgeMean(block: Sums, window: number, channel: number): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    const { edges, sums, present } = block;
    const length = edges[window + 1] - edges[window];
    const row = window * channels + channel;
    const shape = this.shapeOf(channel);
    const curve = this.curveOf(channel);
    let [sum, count, unjudged] = [0, 0, 0];
    for (let a = 0; a < inputs; a++) {
      if (flaggedInputs[a] === 1) continue;
      const at = row * inputs + a;
      const isWhole = length >= LEAST_SPECTRA && (!present || present[at] === length);
      const off = isWhole ? offsetOf(sums[2 * at], sums[2 * at + 1], length, shape, curve) : NaN;
      if (Number.isNaN(off)) unjudged++;
      else {
        sum += off;
        count++;
      }
    }
    if (count < 2) {
      for (const [group, asked] of this.offences.asked.entries())
        this.judgeInputs(block, window, row, group, asked);
      return;
    }
    this.unjudged += unjudged;
    const { low, high } = this.book.of(length, shape, count);
    const verdict = sum / count > high ? ABOVE : sum / count < low ? BELOW : 0;
    if (verdict !== 0) this.offences.setOthers(row, verdict);
  }

  private shapeOf = (channel: number): PowerShape => (channel < this.plan.realChannels ? 0.5 : 1);
  private curveOf = (channel: number): RoundedCurve | undefined =>
    this.plan.curves[channel < this.plan.realChannels ? 'real' : 'complex'];
}

/** Beyond the block's first or last window. */
const EDGE = -1;
