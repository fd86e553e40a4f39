/** What was taken, as gaps that everyone behind understands: the same as if it had never come. */
import type { SpectraGap } from '../core/gaps.js';
import type { Judgement } from './judge.js';

/** Neighbouring inputs, and the same inputs in neighbouring channels, make one box. */
export function takenBoxes(
  { edges, mask }: Pick<Judgement, 'edges' | 'mask'>,
  { channels, inputs }: { readonly channels: number; readonly inputs: number },
): SpectraGap[] {
  const boxes: SpectraGap[] = [];
  for (let w = 0; w + 1 < edges.length; w++) {
    /** By their first and last input: boxes that end at the channel at hand. */
    let open = new Map<number, number>();
    for (let c = 0; c < channels; c++) {
      const next = new Map<number, number>();
      const row = (w * channels + c) * inputs;
      for (let a = 0; a < inputs; a++) {
        if (mask[row + a] === 0) continue;
        let end = a + 1;
        while (end < inputs && mask[row + end] === 1) end++;
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
  }
  return boxes;
}
