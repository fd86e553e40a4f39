/** What a recording's frames had against them, where they had something: nothing is lost silently. */
import { formatBytes } from '../core/units.js';
import type { FrameTally } from '../formats/format.js';

export function frameLines(tally: Readonly<FrameTally> | undefined): string[] {
  if (!tally) return [];
  const { invalid, late, outside, spareBytes } = tally;
  return [
    ...(invalid > 0 ? [`${invalid} frame${s(invalid)} marked invalid or damaged`] : []),
    ...(late > 0 ? [`${late} frame${s(late)} too late for ${late === 1 ? 'its' : 'their'} place`] : []),
    ...(outside > 0 ? [`${outside} frame${s(outside)} outside the recording's time`] : []),
    ...(spareBytes > 0
      ? [`${formatBytes(spareBytes)} in no whole frame: the file is cut short, or damaged there`]
      : []),
  ];
}

const s = (count: number): string => (count === 1 ? '' : 's');
