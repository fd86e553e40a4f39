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
import { CellList, wholeStations, withoutWindows } from './judging/lists.js';
import { Lost } from './judging/lost.js';
import { Marked } from './judging/marked.js';
import { JudgedStations } from './judging/stations.js';
import type { PowerShape } from './limits.js';
import { Offences } from './offences.js';
import { LEAST_SPECTRA, LimitBook, type KurtosisPlan } from './plan.js';
import type { Presence } from './present.js';
import type { RoundedCurve } from './rounded.js';
import { allocateScreened, GROUP, screen, type Screened } from './screen.js';
import { Together } from './together.js';
import { ABOVE, BELOW, isAlone, offsetOf, PAIRED, TOGETHER, UNJUDGED, verdictOf } from './verdicts.js';

export { Judgement } from './judging/judgement.js';

/** Fewer cells than this are not everywhere. */
const LEAST_CELLS = 8;

/** A block's sums, and what is known of them. */
type Sums = Pick<JudgedBlock, 'edges' | 'sums' | 'lost'>;

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
  private readonly lists = new CellList();
  private readonly lost = new Lost();

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
    presence: Presence | undefined,
    screened?: Screened,
  ): Judgement {
    const { channels, inputs, over, bursts } = this.plan;
    const { offences } = this;
    const windows = edges.length - 1;
    offences.clear(windows);
    this.stations.clear(windows);
    const lost = this.lost.of(presence, windows * channels * inputs);
    this.unjudged = 0;
    let weakBursts: readonly number[] = [];
    if (over === 'inputs') this.judgeMeans({ edges, sums, lost });
    else {
      const fencing = this.fences.fencing(edges);
      const seen = screened ?? this.screen(fencing, sums);
      if (presence) this.marked.addMissing(seen, presence);
      const marked = this.marked.find(seen, windows);
      const block: JudgedBlock = {
        edges,
        sums,
        lost,
        fencing,
        screened: seen,
        marked,
        offences,
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
    return this.decide(edges, presence, weakBursts);
  }

  /** From offences to what is taken. */
  private decide(
    edges: Int32Array,
    presence: Presence | undefined,
    weakBursts: readonly number[],
  ): Judgement {
    const { channels, inputs, bursts, takes, polarisations } = this.plan;
    const { counts } = this.offences;
    const windows = edges.length - 1;
    this.lists.clear(windows * channels * inputs);
    const kept: number[] = [];
    const common: number[] = [];
    const everywhere: number[] = [];
    for (let w = 0; w < windows; w++) {
      const before = common.length;
      let stations = 0;
      for (let row = w * channels; row < (w + 1) * channels; row++) {
        if (counts[row] === 0) continue;
        const many = this.listInputs(row);
        stations += many;
        if (2 * many > this.stations.judged[row]) common.push(row);
      }
      const cells = this.stations.cellsOf(w);
      if (cells >= LEAST_CELLS && 2 * stations > cells) {
        everywhere.push(w);
        if (bursts === 'keep') kept.push(w);
      } else if (weakBursts.includes(w)) {
        // Kept as it is: what single channels lose, they lose for themselves.
        everywhere.push(w);
        common.length = before;
        for (let row = w * channels; row < (w + 1) * channels; row++) common.push(row);
      }
    }
    const { places, codes } = this.lists.copy();
    const isWhole = takes === 'stations' && polarisations === 2;
    const going = kept.length === 0 ? places : withoutWindows(places, channels * inputs, kept);
    return new Judgement(this.plan, {
      ...{ edges, presence, everywhere, unjudged: this.unjudged, common: new Int32Array(common) },
      ...{ offending: places, codes, taken: isWhole ? wholeStations(going) : going },
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
    const { count, places, outside } = block.marked;
    for (let n = 0; n < count; n++) {
      if (outside[n] === 0) continue;
      const row = (places[n] / groups) | 0;
      this.judgeInputs(block, (row / channels) | 0, row, places[n] - row * groups, outside[n]);
    }
  }

  /** Those inputs of a group of a window's channel that the bits name. */
  private judgeInputs(
    { edges, sums, lost }: Sums,
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
      const spectra = lost ? length - lost[at] : length;
      const verdict = this.verdict(sums[2 * at], sums[2 * at + 1], spectra, channel, 'window');
      if (verdict === UNJUDGED) {
        this.unjudged++;
        // A station of which no polarisation can be judged; its inputs are of one group.
        const isAlone = polarisations === 1 || flaggedInputs[a ^ 1] === 1;
        if (isAlone || (a % 2 === 1 && lastSilent === a - 1)) this.stations.drop(window, row);
        lastSilent = a;
      } else if (verdict !== 0) this.offences.set(row, group, left & -left, verdict);
    }
  }

  /**
   * Something loud that is on for half of a window looks like noise there: 1/½ − 1 = 1. With the window before or after
   * it does not. So windows that nobody took are judged in pairs too, by one standard deviation more, and both go.
   */
  private judgePairs({ edges, sums, lost, marked }: JudgedBlock): void {
    const { channels, inputs } = this.plan;
    const { offences } = this;
    const { groups } = offences;
    const { places, paired, count } = marked;
    for (let n = 0; n < count; n++) {
      if (paired[n] === 0) continue;
      const at = places[n];
      const row = (at / groups) | 0;
      const w = (row / channels) | 0;
      if (w + 2 >= edges.length) break;
      const group = at - row * groups;
      const length = edges[w + 2] - edges[w];
      // Only what neither was taken for alone; a pair's own verdict is told apart.
      const alone = offences.aloneIn(at) | offences.aloneIn(at + channels * groups);
      for (let left = paired[n] & ~alone; left !== 0; left &= left - 1) {
        const x = row * inputs + group * GROUP + lowest(left);
        const y = x + channels * inputs;
        const spectra = lost ? length - lost[x] - lost[y] : length;
        const s1 = sums[2 * x] + sums[2 * y];
        const s2 = sums[2 * x + 1] + sums[2 * y + 1];
        const verdict = this.verdict(s1, s2, spectra, row - w * channels, 'pair');
        if (!isAlone(verdict)) continue;
        offences.set(row, group, left & -left, PAIRED + verdict);
        offences.set(row + channels, group, left & -left, PAIRED + verdict);
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
    const { offences } = this;
    const { asked, groups } = offences;
    for (let group = 0; group < groups; group++) {
      let bits = asked[group] & ~offences.bitsOf(row * groups + group);
      if (before !== EDGE) bits &= offences.aloneIn(before * groups + group);
      if (after !== EDGE) bits &= offences.aloneIn(after * groups + group);
      if (bits === 0) continue;
      const below = offences.belowIn((before === EDGE ? after : before) * groups + group);
      if ((bits & ~below) !== 0) offences.set(row, group, bits & ~below, PAIRED + ABOVE);
      if ((bits & below) !== 0) offences.set(row, group, bits & below, PAIRED + BELOW);
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
    const { groups } = this.offences;
    const isDual = this.plan.polarisations === 2;
    let offending = 0;
    for (let at = row * groups; at < (row + 1) * groups; at++)
      offending += countOf(isDual ? eitherOf(this.offences.bitsOf(at)) : this.offences.bitsOf(at));
    return offending;
  }

  /** A row's offending inputs into the list; how many stations have one. */
  private listInputs(row: number): number {
    const { inputs, polarisations } = this.plan;
    const { offences, lists } = this;
    const { groups } = offences;
    let stations = 0;
    for (let group = 0; group < groups; group++) {
      const at = row * groups + group;
      const bits = offences.bitsOf(at);
      if (bits === 0) continue;
      stations += countOf(polarisations === 2 ? eitherOf(bits) : bits);
      const first = row * inputs + group * GROUP;
      for (let left = bits; left !== 0; left &= left - 1) {
        const bit = lowest(left);
        lists.add(first + bit, offences.codeOf(at, bit));
      }
    }
    return stations;
  }

  /** The mean over inputs, each in units of its own spread; single ones where fewer than two can be judged. */
  private judgeMeans(block: Sums): void {
    const { channels } = this.plan;
    for (let w = 0; w + 1 < block.edges.length; w++)
      for (let c = 0; c < channels; c++) this.judgeMean(block, w, c);
  }

  private judgeMean(block: Sums, window: number, channel: number): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    const { edges, sums, lost } = block;
    const length = edges[window + 1] - edges[window];
    const row = window * channels + channel;
    const shape = this.shapeOf(channel);
    const curve = this.curveOf(channel);
    let [sum, count, unjudged] = [0, 0, 0];
    for (let a = 0; a < inputs; a++) {
      if (flaggedInputs[a] === 1) continue;
      const at = row * inputs + a;
      const isWhole = length >= LEAST_SPECTRA && (!lost || lost[at] === 0);
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
