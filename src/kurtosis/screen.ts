/**
 * The first look at a block's sums: which windows and pairs of windows lie outside their fences, and the mean kurtosis of the
 * others. The `cpu` backend does the same beside its sums (kurtosis_screen.h), bit for bit; here for everyone else, and to
 * check it.
 */
import { ENTRY, keyOf, type Fence, type Fencing } from './fences.js';
import type { KurtosisPlan } from './plan.js';

/** Outside the fence of its window. */
export const OUTSIDE = 1;
/** Of its window and the next together. */
export const PAIR_OUTSIDE = 2;

/** Inputs whose kurtoses are added up one after the other: those that a tile of the `cpu` backend holds (spectra.h). */
export const GROUP = 16;
export const groupsOf = ({ inputs }: Pick<KurtosisPlan, 'inputs'>): number => Math.ceil(inputs / GROUP);

export interface Screened {
  /** marks : [w][c][a], none of inputs that are left out. */
  readonly marks: Uint8Array;
  /** groupMarks : [w][c][a / 16], all marks of a group. */
  readonly groupMarks: Uint8Array;
  /** totals : [w][c][a / 16] of SK less what noise has, over its spread, of inputs within their fences. */
  readonly totals: Float64Array;
}

/** In buffers of their own, which V8 never moves: native code may keep their addresses. */
export const allocateScreened = (plan: KurtosisPlan, windows: number): Screened => ({
  marks: new Uint8Array(new ArrayBuffer(windows * plan.channels * plan.inputs)),
  groupMarks: new Uint8Array(new ArrayBuffer(windows * plan.channels * groupsOf(plan))),
  totals: new Float64Array(new ArrayBuffer(8 * windows * plan.channels * groupsOf(plan))),
});

/** sums : [w][c][a][S1, S2]. Writes all of `to`. */
export function screen(plan: KurtosisPlan, fencing: Fencing, sums: Float64Array, to: Screened): void {
  const { channels, inputs, realChannels, flaggedInputs } = plan;
  const { fences, places } = fencing;
  const windows = fencing.edges.length - 1;
  const groups = groupsOf(plan);
  const perWindow = channels * inputs;
  for (let w = 0; w < windows; w++)
    for (let c = 0; c < channels; c++) {
      const place = 4 * w + (c < realChannels ? 2 : 0);
      const alone = fences[places[place]];
      const pair = w + 1 < windows ? fences[places[place + 1]] : undefined;
      const row = w * channels + c;
      for (let group = 0; group < groups; group++) {
        const first = row * inputs + group * GROUP;
        const end = Math.min(first + GROUP, (row + 1) * inputs);
        let [total, all] = [0, 0];
        for (let at = first; at < end; at++) {
          let mark = 0;
          if (flaggedInputs[at - row * inputs] === 0) {
            const s1 = sums[2 * at];
            const s2 = sums[2 * at + 1];
            const entry = entryOf(alone, s1, s2);
            if (entry < 0) mark = OUTSIDE;
            else total += offsetBy(alone, entry, s1, s2);
            if (pair) {
              const next = 2 * (at + perWindow);
              if (entryOf(pair, s1 + sums[next], s2 + sums[next + 1]) < 0) mark |= PAIR_OUTSIDE;
            }
          }
          to.marks[at] = mark;
          all |= mark;
        }
        to.groupMarks[row * groups + group] = all;
        to.totals[row * groups + group] = total;
      }
    }
}

/** Where S1's entry begins, −1 outside the fence. */
function entryOf(fence: Fence, s1: number, s2: number): number {
  const at = placeOf(fence, s1);
  if (at < 0) return -1;
  const square = s1 * s1;
  return s2 >= fence.entries[at] * square && s2 <= fence.entries[at + 1] * square ? at : -1;
}

/** Where S1's entry begins, −1 where it has none: too weak, too strong, or not a number. */
function placeOf({ leastPower, mostPower, firstKey, entries }: Fence, s1: number): number {
  if (!(s1 >= leastPower && s1 <= mostPower)) return -1;
  return entries.length === ENTRY ? 0 : ENTRY * (keyOf(s1) - firstKey);
}

export const isWithin = (fence: Fence, s1: number, s2: number): boolean => entryOf(fence, s1, s2) >= 0;

/** SK less noise's own, over its spread, by an entry. Written so that no compiler fuses a product and a sum. */
const offsetBy = ({ scale, entries }: Fence, entry: number, s1: number, s2: number): number =>
  ((scale * s2) / (s1 * s1) - entries[entry + 2]) / entries[entry + 3];

/** The same of any window, within its fence or not; NaN where S1 has no entry. */
export function offsetByFence(fence: Fence, s1: number, s2: number): number {
  const entry = placeOf(fence, s1);
  return entry < 0 ? NaN : offsetBy(fence, entry, s1, s2);
}
