/** Kurtoses of windows' channels, added up over those inputs that came whole and do not offend. */
import type { Fencing } from '../fences.js';
import type { Offences } from '../offences.js';
import type { KurtosisPlan } from '../plan.js';
import { GROUP, offsetByFence, type Screened } from '../screen.js';
import { countOf, lowest } from './bits.js';
import type { MarkedGroups } from './marked.js';

export interface JudgedBlock {
  readonly edges: Int32Array;
  /** sums : [w][c][a][S1, S2] */
  readonly sums: Float64Array;
  /** lost : [w][c][a], spectra that did not come; undefined where all did. */
  readonly lost: Uint32Array | undefined;
  readonly fencing: Fencing;
  readonly screened: Screened;
  readonly marked: MarkedGroups;
  /** What is found is added. */
  readonly offences: Offences;
}

/** Both [w][c]; nobody is counted of channels of real numbers. The room is kept from block to block. */
export class Cells {
  /** Of inputs' kurtoses less 1; 0 where none is counted. */
  totals = new Float64Array(0);
  /** Of inputs. */
  counts = new Float64Array(0);
  private readonly asked: Uint8Array;
  /** Inputs that are. */
  readonly inputsAsked: number;
  private total = 0;
  private count = 0;

  constructor(
    private readonly plan: KurtosisPlan,
    { asked }: Offences,
  ) {
    this.asked = Uint8Array.from(asked, countOf);
    this.inputsAsked = this.asked.reduce((sum, many) => sum + many, 0);
  }

  add(block: JudgedBlock): void {
    const { channels, realChannels } = this.plan;
    const windows = block.edges.length - 1;
    const rows = windows * channels;
    if (this.totals.length < rows) {
      this.totals = new Float64Array(rows);
      this.counts = new Float64Array(rows);
    }
    const { totals, counts, inputsAsked } = this;
    const groups = this.asked.length;
    // Nearly all rows are nothing but noise, and are what was screened.
    const screened = block.screened.totals;
    for (let row = 0, at = 0; row < rows; row++) {
      let total = 0;
      const end = at + groups;
      for (; at + 4 <= end; at += 4)
        total = total + screened[at] + screened[at + 1] + screened[at + 2] + screened[at + 3];
      for (; at < end; at++) total += screened[at];
      totals[row] = total;
    }
    counts.fill(inputsAsked, 0, rows);
    this.leaveOutMarked(block);
    if (realChannels > 0)
      for (let w = 0; w < windows; w++) this.leaveOut(w * channels, w * channels + realChannels);
  }

  /** Nobody is counted in these rows any more. */
  leaveOut(first: number, end: number): void {
    this.totals.fill(0, first, end);
    this.counts.fill(0, first, end);
  }

  /** Those outside their fences are in no total: where they are all that offend, only the count is less. */
  private leaveOutMarked(block: JudgedBlock): void {
    const { marked, offences, lost } = block;
    const { places, outside } = marked;
    const { counts, inputsAsked } = this;
    const groups = this.asked.length;
    for (let n = 0; n < marked.count;) {
      const first = n;
      const row = (places[n] / groups) | 0;
      const end = (row + 1) * groups;
      let out = 0;
      let isSame = !lost;
      for (; n < marked.count && places[n] < end; n++) {
        isSame &&= outside[n] === offences.bitsOf(places[n]);
        out += countOf(outside[n]);
      }
      if (isSame && out === offences.counts[row]) counts[row] = inputsAsked - out;
      else this.addRow(block, row, first);
    }
    // Those of pairs offend in windows that are not marked, too.
    for (let n = 0; n < offences.rowCount; n++)
      if (counts[offences.rows[n]] === inputsAsked) this.addRow(block, offences.rows[n], marked.count);
  }

  /** A row in which something is marked, from one of the marked groups on, or offends. */
  private addRow(block: JudgedBlock, row: number, firstMarked: number): void {
    const { screened, offences, marked } = block;
    const groups = this.asked.length;
    const window = (row / this.plan.channels) | 0;
    let next = firstMarked;
    this.total = 0;
    this.count = 0;
    for (let group = 0; group < groups; group++) {
      const at = row * groups + group;
      const offending = offences.bitsOf(at);
      const out = next < marked.count && marked.places[next] === at ? marked.outside[next++] : 0;
      if (out !== 0 && !this.areWhole(block, row, group, out)) {
        this.addInputs(block, row, window, group, offences.asked[group] & ~offending, 1);
        continue;
      }
      // All within their fences, less those of them that offend, and any outside that do not.
      this.total += screened.totals[at];
      this.count += this.asked[group] - countOf(out);
      if (offending === out) continue;
      this.addInputs(block, row, window, group, offending & ~out, -1);
      this.addInputs(block, row, window, group, out & ~offending, 1);
    }
    this.totals[row] = this.total;
    this.counts[row] = this.count;
  }

  /** Whether these came whole. Only those outside are asked: whoever did not is marked so. */
  private areWhole({ lost }: JudgedBlock, row: number, group: number, bits: number): boolean {
    if (!lost) return true;
    const first = row * this.plan.inputs + group * GROUP;
    for (let left = bits; left !== 0; left &= left - 1) if (lost[first + lowest(left)] !== 0) return false;
    return true;
  }

  /** To the row's total, or away from it. */
  private addInputs(
    { lost, sums, fencing }: JudgedBlock,
    row: number,
    window: number,
    group: number,
    bits: number,
    sign: 1 | -1,
  ): void {
    const fence = fencing.fences[fencing.places[4 * window]];
    for (let left = bits; left !== 0; left &= left - 1) {
      const at = row * this.plan.inputs + group * GROUP + lowest(left);
      if (lost && lost[at] !== 0) continue;
      const off = offsetByFence(fence, sums[2 * at], sums[2 * at + 1]);
      if (Number.isNaN(off)) continue;
      this.total += sign * off;
      this.count += sign;
    }
  }
}
