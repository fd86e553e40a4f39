/** What was taken, as gaps that everyone behind understands: the same as if it had never come. */
import type { SpectraGap } from '../core/gaps.js';
import type { Judgement } from './judge.js';

/** Neighbouring stations, and the same stations in neighbouring channels, make one box. */
export function takenBoxes(
  { edges, mask }: Pick<Judgement, 'edges' | 'mask'>,
  { channels, stations, polarisations }: { channels: number; stations: number; polarisations: 1 | 2 },
): SpectraGap[] {
  const boxes: SpectraGap[] = [];
  for (let w = 0; w + 1 < edges.length; w++) {
    /** By their first and last station: boxes that end at the channel at hand. */
    let open = new Map<number, number>();
    for (let c = 0; c < channels; c++) {
      const next = new Map<number, number>();
      const row = (w * channels + c) * stations;
      for (let s = 0; s < stations; s++) {
        if (mask[row + s] === 0) continue;
        let end = s + 1;
        while (end < stations && mask[row + end] === 1) end++;
        const key = s * (stations + 1) + end;
        const before = open.get(key);
        if (before === undefined) {
          next.set(
            key,
            boxes.push({
              firstChannel: c,
              endChannel: c + 1,
              firstInput: s * polarisations,
              endInput: end * polarisations,
              firstSample: edges[w],
              endSample: edges[w + 1],
            }) - 1,
          );
        } else {
          boxes[before] = { ...boxes[before], endChannel: c + 1 };
          next.set(key, before);
        }
        s = end;
      }
      open = next;
    }
  }
  return boxes;
}
