/** Kurtoses of windows' channels, added up over those inputs that came whole and do not offend. */
import type { Fence, Fencing } from '../fences.js';
import type { Offences } from '../offences.js';
import type { KurtosisPlan } from '../plan.js';
import { GROUP, offsetByFence, OUTSIDE, type Screened } from '../screen.js';
import { countOf, lowest } from './bits.js';

export interface JudgedBlock {
  readonly edges: Int32Array;
  /** sums : [w][c][a][S1, S2] */
  readonly sums: Float64Array;
  /** present : [w][c][a] */
  readonly present: Uint32Array | undefined;
  readonly fencing: Fencing;
  readonly screened: Screened;
  /** outside : [w][c][a / 16], inputs marked as OUTSIDE; only of groups with such a mark. */
  readonly outside: Uint16Array;
  /** Groups that have any mark, [w][c][a / 16], ascending. */
  readonly marked: Int32Array;
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
      for (let group = 0; group < groups; group++) total += screened[at++];
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

  /** Those outside their fences are in no total: where they are all that offend or cannot be counted, only the count is less. */
  private leaveOutMarked(block: JudgedBlock): void {
    const { marked, outside, offences, screened } = block;
    const { counts, inputsAsked } = this;
    const { groupMarks } = screened;
    const groups = this.asked.length;
    for (let n = 0; n < marked.length;) {
      const row = (marked[n] / groups) | 0;
      let out = 0;
      let offending = 0;
      let isSame = true;
      for (; n < marked.length && marked[n] < (row + 1) * groups; n++) {
        const at = marked[n];
        if ((groupMarks[at] & OUTSIDE) === 0) continue;
        out += countOf(outside[at]);
        offending += countOf(offences.bits[at]);
        isSame &&= this.areLeftOut(block, row, at - row * groups);
      }
      if (isSame && offending === offences.counts[row]) counts[row] = inputsAsked - out;
      else this.addRow(block, row);
    }
    // Those of pairs are marked in another window, or not at all.
    for (let n = 0; n < offences.rowCount; n++)
      if (counts[offences.rows[n]] === inputsAsked) this.addRow(block, offences.rows[n]);
  }

  /** Whether those outside are all of a group that offend, did not come whole or are too weak, and in no total. */
  private areLeftOut(block: JudgedBlock, row: number, group: number): boolean {
    const { outside, offences, present, edges, sums } = block;
    const at = row * this.asked.length + group;
    const out = outside[at];
    const offending = offences.bits[at];
    if (offending === out && !present) return true;
    if ((offending & ~out) !== 0) return false;
    const w = Math.floor(row / this.plan.channels);
    for (let left = out; left !== 0; left &= left - 1) {
      const input = row * this.plan.inputs + group * GROUP + lowest(left);
      // What did not come whole may be in the total.
      if (present && present[input] !== edges[w + 1] - edges[w]) return false;
      if ((offending & left & -left) !== 0) continue;
      if (!Number.isNaN(offsetByFence(fenceOf(block, w), sums[2 * input], sums[2 * input + 1]))) return false;
    }
    return true;
  }

  /** A row in which something is marked or offends. */
  private addRow(block: JudgedBlock, row: number): void {
    const { inputs, channels } = this.plan;
    const { screened, offences, outside, edges, present, sums } = block;
    const groups = this.asked.length;
    const w = Math.floor(row / channels);
    const length = edges[w + 1] - edges[w];
    const fence = fenceOf(block, w);
    let [total, count] = [0, 0];
    for (let group = 0; group < groups; group++) {
      const at = row * groups + group;
      const first = row * inputs + group * GROUP;
      const offending = offences.bits[at];
      const out = (screened.groupMarks[at] & OUTSIDE) === 0 ? 0 : outside[at];
      // What was screened holds all within their fences: the same where those came whole, and none of them offends.
      let isScreened = (offending & ~out) === 0;
      if (present)
        for (let left = out; left !== 0; left &= left - 1)
          isScreened &&= present[first + lowest(left)] === length;
      let asked = offences.asked[group] & ~offending;
      if (isScreened) {
        total += screened.totals[at];
        count += this.asked[group] - countOf(out);
        asked &= out;
      }
      for (let left = asked; left !== 0; left &= left - 1) {
        const input = first + lowest(left);
        if (present && present[input] !== length) continue;
        const off = offsetByFence(fence, sums[2 * input], sums[2 * input + 1]);
        if (Number.isNaN(off)) continue;
        total += off;
        count++;
      }
    }
    this.totals[row] = total;
    this.counts[row] = count;
  }
}

/** Of a window's complex channels. */
const fenceOf = ({ fencing }: JudgedBlock, window: number): Fence =>
  fencing.fences[fencing.places[4 * window]];
