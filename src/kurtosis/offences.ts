/**
 * Who offends in a block, and in which rows and groups of inputs anybody does: few do, and the others need no look. The room is
 * kept from block to block, and cleared by what was written.
 */
import { lowest } from './judging/bits.js';
import { GROUP, groupsOf } from './screen.js';
import type { KurtosisPlan } from './plan.js';

export class Offences {
  /** codes : [w][c][a] (verdicts.ts), 0 of who does not. */
  codes = new Uint8Array(0);
  /** bits : [w][c][a / 16], those inputs of the group that do. */
  bits = new Uint16Array(0);
  /** counts : [w][c], how many inputs do. */
  counts = new Uint32Array(0);
  /** Rows [w][c] in which any does, `rowCount` of them, in the order in which they came. */
  rows = new Int32Array(0);
  rowCount = 0;
  /** asked : [a / 16], inputs that are not left out. */
  readonly asked: Uint16Array;
  readonly groups: number;
  private readonly inputs: number;

  constructor(private readonly plan: KurtosisPlan) {
    this.inputs = plan.inputs;
    this.groups = groupsOf(plan);
    this.asked = new Uint16Array(this.groups);
    for (const [a, flag] of plan.flaggedInputs.entries())
      if (flag === 0) this.asked[Math.floor(a / GROUP)] |= 1 << (a % GROUP);
  }

  /** Nobody offends in a block of so many windows. */
  clear(windows: number): void {
    const { codes, bits, counts, groups } = this;
    const rows = windows * this.plan.channels;
    if (counts.length < rows) {
      this.codes = new Uint8Array(rows * this.inputs);
      this.bits = new Uint16Array(rows * groups);
      this.counts = new Uint32Array(rows);
      this.rows = new Int32Array(rows);
    } else {
      for (let n = 0; n < this.rowCount; n++) {
        const row = this.rows[n];
        counts[row] = 0;
        for (let group = 0; group < groups; group++) {
          const first = row * this.inputs + group * GROUP;
          for (let left = bits[row * groups + group]; left !== 0; left &= left - 1)
            codes[first + lowest(left)] = 0;
          bits[row * groups + group] = 0;
        }
      }
    }
    this.rowCount = 0;
  }

  set(row: number, input: number, code: number): void {
    const at = row * this.inputs + input;
    if (this.codes[at] === 0) {
      this.bits[row * this.groups + (input >> 4)] |= 1 << (input & (GROUP - 1));
      this.add(row, 1);
    }
    this.codes[at] = code;
  }

  /** All inputs of a row that are asked and do not offend yet. */
  setOthers(row: number, code: number): void {
    const { codes, bits, groups, asked } = this;
    let added = 0;
    for (let group = 0; group < groups; group++) {
      const at = row * groups + group;
      const others = asked[group] & ~bits[at];
      bits[at] |= others;
      const first = row * this.inputs + group * GROUP;
      for (let left = others; left !== 0; left &= left - 1, added++) codes[first + lowest(left)] = code;
    }
    if (added > 0) this.add(row, added);
  }

  private add(row: number, many: number): void {
    if (this.counts[row] === 0) this.rows[this.rowCount++] = row;
    this.counts[row] += many;
  }
}
