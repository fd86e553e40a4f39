/** Groups of inputs that were marked: few are, and only those are looked at further. */
import type { KurtosisPlan } from '../plan.js';
import type { Presence } from '../present.js';
import { GROUP, groupsOf, OUTSIDE, PAIR_OUTSIDE, type Screened } from '../screen.js';

/** Groups that have a mark, `count` of them, ascending; the first numbers of each array are theirs. */
export interface MarkedGroups {
  readonly count: number;
  /** places : [n], where they are in [w][c][a / 16]. */
  readonly places: Int32Array;
  /** outside, paired : [n], bits of inputs marked as OUTSIDE and as PAIR_OUTSIDE. */
  readonly outside: Uint16Array;
  readonly paired: Uint16Array;
}

export class Marked {
  private places = new Int32Array(0);
  private outside = new Uint16Array(0);
  private paired = new Uint16Array(0);
  private readonly groups: number;

  constructor(private readonly plan: KurtosisPlan) {
    this.groups = groupsOf(plan);
  }

  /** Windows of which a part never came have limits of their own: they are looked at one by one, and so are their pairs. */
  addMissing({ marks, groupMarks }: Screened, { places }: Presence): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    const mark = (row: number, input: number, what: number): void => {
      marks[row * inputs + input] |= what;
      groupMarks[row * this.groups + (input >> 4)] |= what;
    };
    for (const place of places) {
      const row = (place / inputs) | 0;
      const input = place - row * inputs;
      if (flaggedInputs[input] === 1) continue;
      mark(row, input, OUTSIDE | PAIR_OUTSIDE);
      if (row >= channels) mark(row - channels, input, PAIR_OUTSIDE);
    }
  }

  /** Valid until the next call. */
  find({ marks, groupMarks }: Screened, windows: number): MarkedGroups {
    const { inputs } = this.plan;
    const { groups } = this;
    const count = this.findGroups(groupMarks, windows * this.plan.channels * groups);
    const { places, outside, paired } = this;
    for (let n = 0; n < count; n++) {
      const row = (places[n] / groups) | 0;
      const first = row * inputs + (places[n] - row * groups) * GROUP;
      const end = Math.min(first + GROUP, (row + 1) * inputs);
      let out = 0;
      let pair = 0;
      for (let cell = first; cell < end; cell++) {
        const mark = marks[cell];
        if (mark === 0) continue;
        if ((mark & OUTSIDE) !== 0) out |= 1 << (cell - first);
        if ((mark & PAIR_OUTSIDE) !== 0) pair |= 1 << (cell - first);
      }
      outside[n] = out;
      paired[n] = pair;
    }
    return { count, places, outside, paired };
  }

  private findGroups(groupMarks: Uint8Array, all: number): number {
    if (this.places.length < all) {
      this.places = new Int32Array(all);
      this.outside = new Uint16Array(all);
      this.paired = new Uint16Array(all);
    }
    const { places } = this;
    let found = 0;
    // Four groups at a time, where they lie so.
    const isAligned = groupMarks.byteOffset % 4 === 0;
    const words = isAligned ? new Uint32Array(groupMarks.buffer, groupMarks.byteOffset, all >> 2) : NO_WORDS;
    for (let word = 0; word < words.length; word++) {
      if (words[word] === 0) continue;
      for (let at = 4 * word; at < 4 * word + 4; at++) if (groupMarks[at] !== 0) places[found++] = at;
    }
    for (let at = 4 * words.length; at < all; at++) if (groupMarks[at] !== 0) places[found++] = at;
    return found;
  }
}

const NO_WORDS = new Uint32Array(0);
