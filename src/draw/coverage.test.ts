import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { makeCanvas } from './canvas.js';
import { prepareCoverage } from './coverage.js';
import type { Point } from './cut.js';
import { rectangle } from './shapes.js';
import { dashes, disc, strokeRings } from './stroke.js';

/** White on black: how much of each pixel the rings cover, 0…255. */
function cover(width: number, height: number, rings: readonly (readonly Point[])[], opacity = 1): number[] {
  const canvas = makeCanvas(width, height, 0);
  const coverage = prepareCoverage(canvas);
  for (const ring of rings) coverage.add(ring);
  coverage.paint(0xffffff, opacity);
  return Array.from({ length: width * height }, (_, k) => canvas.rgb[3 * k]);
}
const share = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0) / 255;

describe('areas', () => {
  it('cover edge pixels by what is in them', () => {
    const box = { left: 1.25, top: 1.5, right: 3.5, bottom: 2.75 };
    const [none, all] = [0, 255];
    // prettier-ignore
    const wanted = [
      none, none, none, none, none,
      none, 0.75 * 0.5 * all, 0.5 * all, 0.5 * 0.5 * all, none,
      none, 0.75 * 0.75 * all, 0.75 * all, 0.5 * 0.75 * all, none,
    ].map(Math.round);
    assert.deepEqual(cover(5, 3, [rectangle(box)]), wanted);
    // either direction of the ring, and with half opacity
    assert.deepEqual(cover(5, 3, [rectangle(box).reverse()]), wanted);
    assert.equal(cover(5, 3, [rectangle(box)], 0.5)[7], Math.round(0.5 * 0.5 * all));
  });

  it('count once where rings of one direction overlap, and leave a hole where the directions differ', () => {
    const outer = rectangle({ left: 0, top: 0, right: 4, bottom: 4 });
    const inner = rectangle({ left: 1, top: 1, right: 3, bottom: 3 });
    assert.equal(share(cover(4, 4, [outer, inner])), 16);
    assert.equal(share(cover(4, 4, [outer, [...inner].reverse()])), 12);
  });

  it('agree with counting points, wherever on the canvas or beyond it', () => {
    const random = randomStream(3, 'areas', 0);
    const POINTS = 16;
    for (let trial = 0; trial < 40; trial++) {
      const triangle = Array.from({ length: 3 }, () => ({
        x: 24 * random.uniform() - 6,
        y: 20 * random.uniform() - 6,
      }));
      const [a, b, c] = triangle;
      const side = (p: Point, q: Point, x: number, y: number): number =>
        Math.sign((q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x));
      const inside = (x: number, y: number): boolean =>
        side(a, b, x, y) === side(b, c, x, y) && side(b, c, x, y) === side(c, a, x, y);
      const found = cover(12, 8, [triangle]);
      for (let pixel = 0; pixel < 96; pixel++) {
        let count = 0;
        for (let k = 0; k < POINTS ** 2; k++) {
          const [x, y] = [(k % POINTS) + 0.5, Math.floor(k / POINTS) + 0.5].map((n) => n / POINTS);
          if (inside((pixel % 12) + x, Math.floor(pixel / 12) + y)) count++;
        }
        // a pixel's diagonal crosses 2·16 sample cells, half of each uncertain, for at most three edges
        const off = Math.abs(found[pixel] / 255 - count / POINTS ** 2);
        assert.ok(off < 0.1, `trial ${trial}, pixel ${pixel}: ${found[pixel] / 255} ${count / POINTS ** 2}`);
      }
    }
  });

  it('begin anew after each paint', () => {
    const canvas = makeCanvas(3, 1, 0);
    const coverage = prepareCoverage(canvas);
    coverage.add(rectangle({ left: 0, top: 0, right: 1, bottom: 1 }));
    coverage.paint(0xff0000);
    coverage.add(rectangle({ left: 2, top: 0, right: 3, bottom: 1 }));
    coverage.paint(0x00ff00);
    assert.deepEqual([...canvas.rgb], [255, 0, 0, 0, 0, 0, 0, 255, 0]);
  });
});

describe('lines', () => {
  const wave = Array.from({ length: 40 }, (_, k) => ({ x: 5 + k, y: 15 + 8 * Math.sin(k / 6) }));
  const lengthOf = (points: readonly Point[]): number =>
    points.slice(1).reduce((sum, { x, y }, k) => sum + Math.hypot(x - points[k].x, y - points[k].y), 0);

  it('cover their length times their width: gentle joints neither overlap nor gape', () => {
    const covered = share(cover(50, 30, strokeRings(wave, 2, 'open')));
    // each of some 150 pixels on the edge is rounded to 1/255
    assert.ok(Math.abs(covered - 2 * lengthOf(wave)) < 0.3, `${covered} ${2 * lengthOf(wave)}`);
  });
  it('are round at sharp joints, and whole where they close', () => {
    const corner = [10, 10, 30, 10, 10, 11].flatMap((x, k, all) =>
      k % 2 === 0 ? [{ x, y: all[k + 1] }] : [],
    );
    const pixels = cover(40, 20, strokeRings(corner, 4, 'open'));
    // two pixels from the end at (30, 10) is the edge of its round cap: half covered
    assert.ok(pixels[10 * 40 + 31] > 200 && pixels[10 * 40 + 33] === 0);
    const square = rectangle({ left: 5, top: 5, right: 15, bottom: 15 });
    const ring = cover(20, 20, strokeRings(square, 2, 'closed'));
    // the last side, from (5, 15) back to (5, 5), is there
    assert.equal(ring[10 * 20 + 4], 255);
    assert.equal(ring[10 * 20 + 10], 0);
  });
  it('may be dots, when they go nowhere', () => {
    const dot = share(cover(10, 10, strokeRings([{ x: 5, y: 5 }], 6, 'open')));
    assert.ok(Math.abs(dot - 9 * Math.PI) < 1, `${dot}`);
    assert.ok(Math.abs(share(cover(40, 40, [disc({ x: 20, y: 20 }, 15)])) - 225 * Math.PI) < 8);
  });
  it('may be dashed', () => {
    const line = [
      { x: 0, y: 0 },
      { x: 4, y: 0 },
      { x: 4, y: 6 },
    ];
    assert.deepEqual(dashes(line, [3, 2]), [
      [
        { x: 0, y: 0 },
        { x: 3, y: 0 },
      ],
      [
        { x: 4, y: 1 },
        { x: 4, y: 4 },
      ],
    ]);
  });
});
