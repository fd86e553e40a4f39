import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { planeML, type PlaneML } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { skyFrame } from '../sky/frame.js';
import { zenithAxes } from './cases.js';
import { planImage, skyPicture } from './index.js';
import { placeLabels } from './labels.js';
import { niceTicks } from './picture.js';
import { colourFraction, percentileStretch, rasterPng } from './raster.js';
import { equatorialGrid, horizontalGrid } from './sky-grid.js';

const plan = planImage({
  pixels: 16,
  field: { kind: 'all-sky' },
  stationsM: [{ x: 0, y: 0, z: 0 }],
  axes: zenithAxes,
  frequenciesHz: Float64Array.of(60e6),
  polarisations: 1,
});
/** Zero but for one bright pixel. */
const spot = (row: number, column: number): PlaneML => {
  const plane = planeML(new Float64Array(256), 16);
  plane[row * 16 + column] = 1;
  return plane;
};
const linear = { low: 0, high: 1, exponent: 1 };

describe('raster', () => {
  it('has north up and east to the left', () => {
    // row 12 is north of the middle, column 10 east of it: 15 − 12 = 3 rows from the top, 15 − 10 = 5 from the left
    const { data, width } = decode(rasterPng(spot(12, 10), 16, linear));
    assert.equal(width, 16);
    const brightest = Array.from(
      { length: 256 },
      (_, at) => data[4 * at] + data[4 * at + 1] + data[4 * at + 2],
    );
    assert.equal(brightest.indexOf(Math.max(...brightest)), 3 * 16 + 5);
  });
  it('is transparent where nothing is known, except beside the sky', () => {
    const plane = spot(8, 8);
    plane.fill(NaN, 0, 6 * 16);
    const { data } = decode(rasterPng(plane, 16, linear));
    const alpha = (row: number): number => data[4 * ((15 - row) * 16) + 3];
    assert.deepEqual([alpha(6), alpha(5), alpha(4), alpha(3), alpha(0)], [255, 255, 255, 0, 0]);
  });
  it('stretches between percentiles and bends by the exponent', () => {
    const plane = planeML(
      Float64Array.from({ length: 256 }, (_, at) => (at < 101 ? at : NaN)),
      16,
    );
    const { low, high } = percentileStretch(plane, 2, 98);
    assert.deepEqual([low, high], [2, 98]);
    assert.equal(colourFraction(5, { low: 1, high: 17, exponent: 0.5 }), 0.5);
    assert.equal(colourFraction(-9, linear), 0);
    assert.equal(colourFraction(9, linear), 1);
    assert.throws(() => percentileStretch(planeML(new Float64Array(256).fill(NaN), 16), 0, 100), /no pixel/);
  });
});

describe('labels', () => {
  it('keep clear of each other and of other markers', () => {
    const markers = [0, 1, 2, 3].map((n) => ({ x: 100 + 30 * n, y: 100, text: `Source ${n}` }));
    const placed = placeLabels(markers, { fontSize: 15, markerRadius: 10, isFree: () => true });
    const box = ({ textX, textY, anchor, text }: (typeof placed)[number]) => {
      const width = text.length * 15 * 0.62;
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

describe('grids', () => {
  it('draw altitude 60° at half the radius, and the pole at the latitude’s altitude', () => {
    const { lines, labels } = horizontalGrid(plan);
    assert.ok(lines[3].every(({ l, m }) => Math.abs(Math.hypot(l, m) - 0.5) < 1e-9));
    assert.deepEqual(
      labels.map(({ text }) => text),
      ['15°', '30°', '45°', '60°', '75°'],
    );
    const frame = skyFrame({ latitudeDeg: 34, longitudeDeg: -107, heightM: 0 }, instant(946_728_000));
    const grid = equatorialGrid({ ...plan, axes: frame.tangentAxes(frame.zenith) }, frame);
    // declination +60° circles the pole, which stands at m = cos 34°, l = 0 (J2000 axes at J2000)
    const circle = grid.lines.find((line) => line.length > 200 && line.every(({ m }) => m > 0));
    assert.ok(circle);
    const middle = circle.reduce((sum, { l }) => sum + l, 0) / circle.length;
    assert.ok(Math.abs(middle) < 0.01, `${middle}`);
  });
});

describe('sky picture', () => {
  const svg = skyPicture({
    plane: spot(8, 8),
    plan,
    title: ['First <light>', 'LWA-SV'],
    unit: 'Jy/beam',
    sources: [
      { name: 'East', directionEnu: { x: 0.6, y: 0, z: 0.8 } },
      { name: 'Set', directionEnu: { x: 0.6, y: 0, z: -0.8 } },
    ],
    stretch: linear,
  });
  it('marks a source in the east left of the middle, and none that has set', () => {
    const [, x, y] = /<circle cx="([\d.]+)" cy="([\d.]+)" r="18"/.exec(svg) ?? [];
    // the horizon's radius is 405/1.07 = 378.5, so l = 0.6 lies 227.1 left of 450
    assert.ok(Math.abs(Number(x) - (450 - 227.1)) < 0.1);
    assert.equal(Number(y), 501);
    assert.ok(svg.includes('>East<') && !svg.includes('>Set<'));
  });
  it('escapes what people write, and carries everything inside', () => {
    assert.ok(svg.includes('First &lt;light&gt;') && !svg.includes('<light>'));
    assert.ok(svg.includes('data:image/png;base64,') && svg.includes('Jy/beam'));
  });
  it('ticks at round numbers', () => {
    const near = (found: number[], wanted: number[]): void => {
      assert.deepEqual(
        found.map((value) => Number(value.toPrecision(9))),
        wanted,
      );
    };
    near(niceTicks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
    near(niceTicks(-130, 4300), [0, 1000, 2000, 3000, 4000]);
  });
});
