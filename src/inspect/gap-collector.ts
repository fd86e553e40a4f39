/** Gaps of block after block, as one list. */
import type { SpectraGap } from '../core/gaps.js';

const FIRST_GAPS = 8;

const boxSamples = (gap: SpectraGap): number =>
  (gap.endChannel - gap.firstChannel) * (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample);

/** Counts missing samples and joins gaps that run on from one block into the next. */
export function gapCollector() {
  let samples = 0;
  let boxes = 0;
  /** Where the latest box of each place (inputs, channels) ends, and which of the first it is, if any. */
  const ends = new Map<string, { end: number; kept: number | undefined }>();
  const first: SpectraGap[] = [];
  return {
    add: (gaps: readonly SpectraGap[], offset: number, blockSamples: number): void => {
      for (const gap of [...gaps].sort((x, y) => x.firstSample - y.firstSample)) {
        samples += boxSamples(gap);
        const place = `${gap.firstInput} ${gap.endInput} ${gap.firstChannel} ${gap.endChannel}`;
        const box = { ...gap, firstSample: gap.firstSample + offset, endSample: gap.endSample + offset };
        const before = ends.get(place);
        if (before?.end === box.firstSample) {
          before.end = box.endSample;
          if (before.kept !== undefined)
            first[before.kept] = { ...first[before.kept], endSample: box.endSample };
          continue;
        }
        boxes++;
        const kept = first.length < FIRST_GAPS ? first.push(box) - 1 : undefined;
        ends.set(place, { end: box.endSample, kept });
      }
      // Only what reaches the block's end can run on.
      for (const [place, { end }] of ends) if (end < offset + blockSamples) ends.delete(place);
    },
    samples: () => samples,
    boxes: () => boxes,
    first: () => first,
  };
}
