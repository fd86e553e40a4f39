/** Groups of inputs that were marked: few are, and only those are looked at further. */
import type { KurtosisPlan } from '../plan.js';
import { GROUP, groupsOf, OUTSIDE, PAIR_OUTSIDE, type Screened } from '../screen.js';

export class Marked {
  /** outside : [w][c][a / 16], inputs marked as OUTSIDE; only of groups with such a mark. */
  outside = new Uint16Array(0);
  private places = new Int32Array(0);
  private readonly groups: number;

  constructor(private readonly plan: KurtosisPlan) {
    this.groups = groupsOf(plan);
  }

  /** Windows of which a part never came have limits of their own: they are looked at one by one, and so are their pairs. */
  addMissing(edges: Int32Array, { marks, groupMarks }: Screened, present: Uint32Array): void {
    const { channels, inputs, flaggedInputs } = this.plan;
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

  /** Those with any mark, [w][c][a / 16], ascending; valid until the next call, as `outside` is. */
  find({ marks, groupMarks }: Screened, windows: number): Int32Array {
    const { inputs } = this.plan;
    const { groups } = this;
    const all = windows * this.plan.channels * groups;
    if (this.places.length < all) {
      this.places = new Int32Array(all);
      this.outside = new Uint16Array(all);
    }
    const { places, outside } = this;
    let found = 0;
    // Four groups at a time, where they lie so.
    const isAligned = groupMarks.byteOffset % 4 === 0;
    const words = isAligned ? new Uint32Array(groupMarks.buffer, groupMarks.byteOffset, all >> 2) : NO_WORDS;
    for (let word = 0; word < words.length; word++) {
      if (words[word] === 0) continue;
      for (let at = 4 * word; at < 4 * word + 4; at++) if (groupMarks[at] !== 0) places[found++] = at;
    }
    for (let at = 4 * words.length; at < all; at++) if (groupMarks[at] !== 0) places[found++] = at;
    for (let n = 0; n < found; n++) {
      const at = places[n];
      if ((groupMarks[at] & OUTSIDE) === 0) continue;
      const row = (at / groups) | 0;
      const first = (at - row * groups) * GROUP;
      const many = Math.min(GROUP, inputs - first);
      let bits = 0;
      for (let n = 0, at = row * inputs + first; n < many; n++, at++) bits |= (marks[at] & OUTSIDE) << n;
      outside[at] = bits;
    }
    return places.subarray(0, found);
  }
}

const NO_WORDS = new Uint32Array(0);
