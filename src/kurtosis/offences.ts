/**
 * Who offends in a block, as bits of groups of inputs: few do, and whole groups are asked at once. The room is kept from block to
 * block, and cleared by what was written.
 */
import { countOf } from './judging/bits.js';
import { GROUP, groupsOf } from './screen.js';
import type { KurtosisPlan } from './plan.js';
import { BELOW, PAIRED, sideOf, TOGETHER } from './verdicts.js';

/** Numbers of a group: who offends, and of those who lies below its limits, in a pair of windows, and together with others. */
const PLANES = 4;

export class Offences {
  /** planes : [w][c][a / 16][offending, below, paired, together], an input's bit each. */
  private planes = new Uint16Array(0);
  /** The same, a group each. */
  private words = new Float64Array(0);
  /** counts : [w][c], how many inputs offend. */
  counts = new Uint32Array(0);
  /** Rows [w][c] in which any does, `rowCount` of them, in the order in which they came. */
  rows = new Int32Array(0);
  rowCount = 0;
  /** asked : [a / 16], inputs that are not left out. */
  readonly asked: Uint16Array;
  readonly groups: number;

  constructor(private readonly plan: KurtosisPlan) {
    this.groups = groupsOf(plan);
    this.asked = new Uint16Array(this.groups);
    for (const [a, flag] of plan.flaggedInputs.entries())
      if (flag === 0) this.asked[Math.floor(a / GROUP)] |= 1 << (a % GROUP);
  }

  /** Nobody offends in a block of so many windows. */
  clear(windows: number): void {
    const { counts, groups, words, rows } = this;
    const all = windows * this.plan.channels;
    if (counts.length < all) {
      this.words = new Float64Array(all * groups);
      this.planes = new Uint16Array(this.words.buffer);
      this.counts = new Uint32Array(all);
      this.rows = new Int32Array(all);
    } else
      for (let n = 0; n < this.rowCount; n++) {
        const row = rows[n];
        counts[row] = 0;
        for (let at = row * groups; at < (row + 1) * groups; at++) words[at] = 0;
      }
    this.rowCount = 0;
  }

  /** Bits of a group [w][c][a / 16]: who offends. */
  bitsOf(at: number): number {
    return this.planes[PLANES * at];
  }

  /** Who does for itself, in one window. */
  aloneIn(at: number): number {
    const { planes } = this;
    return planes[PLANES * at] & ~(planes[PLANES * at + 2] | planes[PLANES * at + 3]);
  }

  /** Who lies below its limits. */
  belowIn(at: number): number {
    return this.planes[PLANES * at + 1];
  }

  /** The code (verdicts.ts) of one that offends. */
  codeOf(at: number, bit: number): number {
    const { planes } = this;
    const side = 1 + ((planes[PLANES * at + 1] >> bit) & 1);
    const isPaired = (planes[PLANES * at + 2] >> bit) & 1;
    return side + PAIRED * isPaired + TOGETHER * ((planes[PLANES * at + 3] >> bit) & 1);
  }

  /** Inputs of a group of a row offend so, whatever was said of them before. */
  set(row: number, group: number, bits: number, code: number): void {
    const { planes } = this;
    const at = PLANES * (row * this.groups + group);
    const added = bits & ~planes[at];
    planes[at] |= bits;
    planes[at + 1] = sideOf(code) === BELOW ? planes[at + 1] | bits : planes[at + 1] & ~bits;
    planes[at + 2] = (code & PAIRED) !== 0 ? planes[at + 2] | bits : planes[at + 2] & ~bits;
    planes[at + 3] = (code & TOGETHER) !== 0 ? planes[at + 3] | bits : planes[at + 3] & ~bits;
    if (added === 0) return;
    if (this.counts[row] === 0) this.rows[this.rowCount++] = row;
    this.counts[row] += countOf(added);
  }

  /** All inputs of a row that are asked and do not offend yet. */
  setOthers(row: number, code: number): void {
    const { asked, groups } = this;
    for (let group = 0; group < groups; group++) {
      const others = asked[group] & ~this.bitsOf(row * groups + group);
      if (others !== 0) this.set(row, group, others, code);
    }
  }
}
