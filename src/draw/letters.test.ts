import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Point } from './cut.js';
import { textRings, textWidth } from './letters.js';

/** Signed: rings of one direction have areas of the same sign. */
const areaOf = (ring: readonly Point[]): number =>
  ring.reduce((sum, { x, y }, k) => {
    const next = ring[(k + 1) % ring.length];
    return sum + (x * next.y - next.x * y) / 2;
  }, 0);

describe('letters', () => {
  it('have the widths that DejaVu gives them', () => {
    // 1303 of 2048 units for every digit, 1540 for H, 651 for the space between words
    assert.equal(textWidth('0', 2048), 1303);
    assert.equal(textWidth('1234567890', 2048), 13_030);
    assert.equal(textWidth('H H', 2048), 2 * 1540 + 651);
    assert.ok(textWidth('H', 100, 'bold') > textWidth('H', 100));
  });
  it('move together where the font states it', () => {
    assert.ok(textWidth('AV', 100) < textWidth('A', 100) + textWidth('V', 100));
    assert.equal(textWidth('AH', 100), textWidth('A', 100) + textWidth('H', 100));
  });
  it('stand on their baseline, as high as capitals are, with their holes', () => {
    const [stem] = textRings('I', 1000);
    const ys = stem.map(({ y }) => y);
    assert.equal(Math.abs(Math.max(...ys)), 0);
    assert.equal(Math.round(Math.min(...ys)), -729);
    const [inner, outer] = textRings('O', 1000).map(areaOf);
    assert.ok(outer * inner < 0 && Math.abs(outer) > Math.abs(inner));
    // a g extends below the baseline
    assert.ok(
      textRings('g', 1000)
        .flat()
        .some(({ y }) => y > 150),
    );
  });
  it('are round where the font has curves', () => {
    // the dot of DejaVu's i is square, the outline of the zero is not
    const [ring] = textRings('0', 300);
    assert.ok(ring.length > 40, `${ring.length} corners`);
  });
  it('may be made of parts, and need not be in the font', () => {
    assert.equal(textRings('é', 10).length, textRings('e', 10).length + 1);
    for (const letter of 'µ°−×⁻²·…’″′→')
      assert.notDeepEqual(textRings(letter, 10), textRings('\uE123', 10), letter);
    assert.ok(textRings('\uE123', 10).length > 0, 'an empty box stands for what no font has');
  });
});
