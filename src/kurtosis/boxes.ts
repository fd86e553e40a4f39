/** What was taken, as gaps that everyone behind understands: the same as if it had never come. */
import type { SpectraGap } from '../core/gaps.js';
import type { Judgement } from './judge.js';

type Box = { -readonly [key in keyof SpectraGap]: SpectraGap[key] };

/** Numbers of a box that native code packed, in the order of its names here. */
export const BOX_NUMBERS = 6;

/** Neighbouring inputs, and the same inputs in neighbouring channels, make one box. */
export function takenBoxes(
  { edges, taken, packedBoxes }: Pick<Judgement, 'edges' | 'taken'> & Partial<Pick<Judgement, 'packedBoxes'>>,
  { channels, inputs }: { readonly channels: number; readonly inputs: number },
): SpectraGap[] {
  if (packedBoxes) return unpacked(packedBoxes);
  const boxes: Box[] = [];
  /** Of the row before, [w][c], and of this one, by their first input; so many of each. */
  let open: Box[] = [];
  let here: Box[] = [];
  let opened = 0;
  let found = 0;
  let lastRow = -1;
  for (let n = 0; n < taken.length;) {
    const row = (taken[n] / inputs) | 0;
    const w = (row / channels) | 0;
    const c = row - w * channels;
    if (c === 0 || row !== lastRow + 1) opened = 0;
    lastRow = row;
    found = 0;
    const rowEnd = (row + 1) * inputs;
    let before = 0;
    while (n < taken.length && taken[n] < rowEnd) {
      const firstInput = taken[n] - row * inputs;
      let end = taken[n] + 1;
      while (++n < taken.length && taken[n] === end && end < rowEnd) end++;
      const endInput = end - row * inputs;
      while (before < opened && open[before].firstInput < firstInput) before++;
      let box = before < opened ? open[before] : undefined;
      if (box?.firstInput === firstInput && box.endInput === endInput) box.endChannel = c + 1;
      else {
        box = {
          firstChannel: c,
          endChannel: c + 1,
          firstInput,
          endInput,
          firstSample: edges[w],
          endSample: edges[w + 1],
        };
        boxes.push(box);
      }
      here[found++] = box;
    }
    const last = open;
    open = here;
    opened = found;
    here = last;
  }
  return boxes;
}

function unpacked(numbers: Int32Array): SpectraGap[] {
  const boxes: SpectraGap[] = new Array<SpectraGap>(numbers.length / BOX_NUMBERS);
  for (let n = 0, at = 0; n < boxes.length; n++, at += BOX_NUMBERS)
    boxes[n] = {
      firstChannel: numbers[at],
      endChannel: numbers[at + 1],
      firstInput: numbers[at + 2],
      endInput: numbers[at + 3],
      firstSample: numbers[at + 4],
      endSample: numbers[at + 5],
    };
  return boxes;
}
