/** Places names beside their markers without overlap. */

import type { Box } from './cut.js';
import { textWidth } from './letters.js';

interface Marker {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}
interface PlacedLabel extends Marker {
  /** Anchor position of the text, and its alignment. */
  readonly textX: number;
  readonly textY: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly box: Box;
  /** Whether it overlaps something, since no place was free. */
  readonly crowded: boolean;
}
type Candidate = Omit<PlacedLabel, 'crowded'>;

interface LabelOptions {
  readonly fontSize: number;
  readonly markerRadius: number;
  /** Whether text may cover a point. */
  readonly isFree: (x: number, y: number) => boolean;
}

/** Tried in this order: beside the marker first, as on maps. */
const directions = [
  { dx: 1, dy: 0, anchor: 'start' },
  { dx: -1, dy: 0, anchor: 'end' },
  { dx: 0, dy: -1, anchor: 'middle' },
  { dx: 0, dy: 1, anchor: 'middle' },
  { dx: 0.7, dy: -0.9, anchor: 'start' },
  { dx: 0.7, dy: 0.9, anchor: 'start' },
  { dx: -0.7, dy: -0.9, anchor: 'end' },
  { dx: -0.7, dy: 0.9, anchor: 'end' },
] as const;
const distances = [1, 1.8, 2.8] as const;

export const overlap = (a: Box, b: Box): number =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

/** Earlier markers choose first; each takes the nearest free place, or the least crowded. */
export function placeLabels(markers: readonly Marker[], options: LabelOptions): PlacedLabel[] {
  const { fontSize, markerRadius } = options;
  const taken: Box[] = markers.map(({ x, y }) => around(x, y, markerRadius + 2));
  return markers.map((marker) => {
    let best: Candidate | undefined;
    let least = Infinity;
    for (const distance of distances) {
      for (const direction of directions) {
        const candidate = tryPlace(marker, direction, distance * (markerRadius + 5), fontSize);
        const cost = taken.reduce(
          (sum, box) => sum + overlap(candidate.box, box),
          cornersOutside(candidate.box, options) * fontSize ** 2,
        );
        if (cost < least) {
          least = cost;
          best = candidate;
        }
      }
    }
    if (!best) throw new Error('there is always a first candidate');
    taken.push(best.box);
    return { ...best, crowded: least > 0 };
  });
}

export const around = (x: number, y: number, radius: number): Box => ({
  left: x - radius,
  top: y - radius,
  right: x + radius,
  bottom: y + radius,
});
const cornersOutside = ({ left, right, top, bottom }: Box, { isFree }: LabelOptions): number =>
  [isFree(left, top), isFree(right, top), isFree(left, bottom), isFree(right, bottom)].filter((free) => !free)
    .length;

function tryPlace(
  marker: Marker,
  { dx, dy, anchor }: (typeof directions)[number],
  gap: number,
  fontSize: number,
): Candidate {
  const width = textWidth(marker.text, fontSize);
  const textX = marker.x + dx * gap;
  const middleY = marker.y + dy * (gap + fontSize * 0.35);
  const left = { start: textX, middle: textX - width / 2, end: textX - width }[anchor];
  const box = { left, right: left + width, top: middleY - fontSize * 0.6, bottom: middleY + fontSize * 0.6 };
  // the baseline is about a third of the size below the centre of the letters
  return { ...marker, textX, textY: middleY + fontSize * 0.36, anchor, box };
}
