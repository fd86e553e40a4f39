import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeLabels } from './labels.js';
import { textWidth } from './letters.js';

describe('labels', () => {
  it('keep clear of each other and of other markers', () => {
    const markers = [0, 1, 2, 3].map((n) => ({ x: 100 + 30 * n, y: 100, text: `Source ${n}` }));
    const placed = placeLabels(markers, { fontSize: 15, markerRadius: 10, isFree: () => true });
    const box = ({ textX, textY, anchor, text }: (typeof placed)[number]) => {
      const width = textWidth(text, 15);
      const left = { start: textX, middle: textX - width / 2, end: textX - width }[anchor];
      return { left, right: left + width, top: textY - 14, bottom: textY + 3 };
    };
    for (const [n, one] of placed.entries()) {
      for (const other of placed.slice(n + 1)) {
        const [a, b] = [box(one), box(other)];
        const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        assert.ok(apart, `${one.text} over ${other.text}`);
      }
    }
  });
  it('turn inwards at the edge', () => {
    const options = { fontSize: 15, markerRadius: 10, isFree: (x: number) => x < 110 };
    const [{ anchor }] = placeLabels([{ x: 95, y: 50, text: 'Her A' }], options);
    assert.equal(anchor, 'end');
  });
});
