/** What was taken, as gaps that everyone behind understands: the same as if it had never come. */
import type { SpectraGap } from '../core/gaps.js';
import type { Judgement } from './judge.js';

/** Neighbouring inputs, and the same inputs in neighbouring channels, make one box. */
export function takenBoxes(
  { edges, mask }: Pick<Judgement, 'edges' | 'mask'>,
  { channels, inputs }: { readonly channels: number; readonly inputs: number },
): SpectraGap[] {
  const boxes: SpectraGap[] = [];
  /** By their first and last input: boxes that end at the row at hand, [w][c]. */
  let open = new Map<number, number>();
  let lastRow = -1;
  // From one row with something taken to the next: most have nothing.
  for (let found = mask.indexOf(1); found >= 0; found = mask.indexOf(1, (lastRow + 1) * inputs)) {
    const row = Math.floor(found / inputs);
    const c = row % channels;
    const w = (row - c) / channels;
    if (c === 0 || row !== lastRow + 1) open.clear();
    lastRow = row;
    const next = new Map<number, number>();
    for (let a = found - row * inputs; a < inputs; a++) {
      if (mask[row * inputs + a] === 0) continue;
      let end = a + 1;
      while (end < inputs && mask[row * inputs + end] === 1) end++;
      const key = a * (inputs + 1) + end;
      const before = open.get(key);
      if (before === undefined) {
        next.set(
          key,
          boxes.push({
            firstChannel: c,
            endChannel: c + 1,
            firstInput: a,
            endInput: end,
            firstSample: edges[w],
            endSample: edges[w + 1],
          }) - 1,
        );
      } else {
        boxes[before] = { ...boxes[before], endChannel: c + 1 };
        next.set(key, before);
      }
      a = end;
    }
    open = next;
  }
  return boxes;
}
