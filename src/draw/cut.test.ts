import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutLine } from './cut.js';

const box = { left: 0, top: 0, right: 10, bottom: 20 };
const points = (...numbers: number[]) =>
  Array.from({ length: numbers.length / 2 }, (_, k) => ({ x: numbers[2 * k], y: numbers[2 * k + 1] }));

describe('lines cut to a box', () => {
  it('are left alone inside, edges included', () => {
    const line = points(0, 0, 3, 4, 10, 20);
    assert.deepEqual(cutLine(line, box), [line]);
  });
  it('end on the edge, and come back as pieces of their own', () => {
    // in through the left edge at y = 5, out through the right at y = 5, back from the right at y = 15
    assert.deepEqual(cutLine(points(-5, 5, 15, 5, 15, 15, 5, 15), box), [
      points(0, 5, 10, 5),
      points(10, 15, 5, 15),
    ]);
  });
  it('may cross a corner between two points outside', () => {
    assert.deepEqual(cutLine(points(-5, 5, 5, -5), box), []);
    assert.deepEqual(cutLine(points(-4, 8, 8, -4), box), [points(0, 4, 4, 0)]);
  });
  it('are gone where they stay outside, run along beside, or only touch', () => {
    assert.deepEqual(cutLine(points(-1, -5, -1, 25), box), []);
    assert.deepEqual(cutLine(points(-5, 0, 0, 0), box), []);
    assert.deepEqual(cutLine(points(12, 2, 14, 30, 40, 4), box), []);
    assert.deepEqual(cutLine(points(3, 3), box), []);
  });
});
